/** Delivers once to the URL that it is told, in whatever environment it was started in; prints what came of it. */
import process from "node:process";
import { deliverTo } from "./deliveries.ts";

const answer = await deliverTo(0, {
  url: process.argv[2]!,
  allowHosts: ["127.0.0.1", "hooks.example", "other.example"],
  lookup: () => Promise.resolve(["127.0.0.1"]),
});
console.log(answer instanceof Error ? answer.message : "delivered");

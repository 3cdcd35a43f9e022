/**
 * Recipe: one driver per object. A room is driven by a chain of one-shots as long as somebody is in it; whoever enters
 * makes sure that there is a driver, and never makes a second one.
 *
 *     node examples/recipes/one_driver_per_object.ts
 *     deno run -A examples/recipes/one_driver_per_object.ts
 *
 * The room remembers the id of its driver. Ids are never used again, so `valid(id)` is a safe question however old the id
 * is. (Where the object has no place for an id, `key` does the same: a creation whose key names a live schedule answers
 * that one.) Time is moved by hand, so it ends at once.
 *
 * @module
 */
import { again, createScheduler, defineTask } from "../../mod.ts";
import { manualClock } from "../../src/testing/mod.ts";

interface Room {
  readonly name: string;
  people: number;
  driver?: string;
}

const clock = manualClock("2026-01-01T20:00:00Z");
const rooms = new Map<string, Room>();

const drive = defineTask("drive", (input: { room: string }, ctx) => {
  const room = rooms.get(input.room)!;
  if (room.people === 0) return console.log(`${time()}  ${room.name} is empty: its driver ends`);
  console.log(`${time()}  ${room.name} moves on, ${room.people} in it, ${ctx.elapsed} ms after its last move`);
  return again("5s");
});
const scheduler = createScheduler({ clock, tasks: [drive] });

async function enter(name: string): Promise<void> {
  const room = rooms.get(name) ?? { name, people: 0 };
  rooms.set(name, room);
  room.people++;
  if (room.driver !== undefined && await scheduler.valid(room.driver)) {
    return console.log(`${time()}  one more in ${name}: it is driven already`);
  }
  const driver = await scheduler.after(drive, "1s", { room: name }, { target: `room:${name}` });
  room.driver = driver.id;
  console.log(`${time()}  one more in ${name}: a new driver`);
}

function time(): string {
  return new Date(clock.now()).toISOString().slice(11, 19);
}

await scheduler.start();
await enter("library");
await enter("library");
await enter("hall");
await clock.advance("8s");
console.log(`drivers: ${(await scheduler.listFor("room:library")).length} for the library`);
rooms.get("library")!.people = 0;
await clock.advance("5s");
await enter("library");
await clock.advance("2s");
await scheduler.close();

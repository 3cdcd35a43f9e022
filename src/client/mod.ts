/**
 * What a caller can do: create, change, stop and look at schedules, within what its principal may.
 *
 * @module
 */
export { createApi } from "./api.ts";
export { authorizeRun } from "./authorize.ts";
export { Client, createClient } from "./client.ts";
export type { ClientHost, Done, Place } from "./host.ts";
export { kept } from "./kept.ts";
export { isGone } from "./operations.ts";
export { checkPrincipal, SYSTEM_PRINCIPAL } from "./principal.ts";
export { isReservedKey } from "./request.ts";
export { validateInput } from "./schema.ts";
export { checkText } from "./text.ts";
export { type BufferedUnit, createUnit, type UnitChanges } from "./unit.ts";

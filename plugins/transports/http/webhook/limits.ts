/**
 * Every bound of the webhooks and its reason.
 *
 * @module
 */

/** Bytes of a signing key: below 128 bits a secret can be guessed; Standard Webhooks asks for 24 to 64. */
export const MIN_SECRET_BYTES = 16;
/** See {@linkcode MIN_SECRET_BYTES}. */
export const MAX_SECRET_BYTES = 64;
/** Secrets in use at once: one in force and those that are being replaced. Each signs every delivery. */
export const MAX_SECRETS = 5;

/** Characters of a URL: what servers and proxies take without being set up for more. */
export const MAX_URL_LENGTH = 2_000;
/** Hosts that may be allowed by name. */
export const MAX_ALLOWED_HOSTS = 100;
/** Addresses of one host that are looked at; a name that has more is refused. */
export const MAX_ADDRESSES = 64;

/** How long a delivery may take unless told otherwise: what senders of webhooks commonly wait. */
export const DEFAULT_DELIVERY_MS = 30_000;
/** The longest that may be asked for: whoever takes longer answers at once and works on. */
export const MAX_DELIVERY_MS = 600_000;
/** Bytes of an answer's headers. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** Bytes of an answer's body: all that is read of it are a delay and a reason. */
export const MAX_ANSWER_BYTES = 64 * 1024;
/** Bytes that are read of the body of a refusal, to tell of it. */
export const MAX_REFUSAL_BYTES = 1_024;
/** Characters of a refusal's body that its fault tells. */
export const MAX_EXCERPT = 200;
/** The longest `Retry-After` that is honoured: a longer one would hold a deadline back for a mistake. */
export const MAX_RETRY_AFTER_MS = 86_400_000;

/** Bytes of a delivery that a receiver reads: an input of 32 KiB, a state of 4 KiB, and as much again for the rest. */
export const MAX_DELIVERY_BYTES = 128 * 1024;
/** How far a delivery's timestamp may be from the receiver's clock, unless told otherwise; what Standard Webhooks uses. */
export const DEFAULT_TOLERANCE_MS = 300_000;
/** The widest tolerance: beyond it a timestamp protects from nothing. */
export const MAX_TOLERANCE_MS = 3_600_000;
/** Deliveries that a receiver remembers in memory, some 100 bytes each: 30 a second for the five minutes that one is valid. */
export const MAX_REMEMBERED = 10_000;
/** Characters of a delivery's id. */
export const MAX_ID_LENGTH = 256;
/** Signatures of one delivery that are looked at: more than anybody's secrets. */
export const MAX_SIGNATURES = 20;

/** Webhooks that one call of a list answers. */
export const MAX_WEBHOOK_PAGE = 100;
/** Characters of a webhook's name: its record's key adds a prefix to it. */
export const MAX_WEBHOOK_NAME = 150;
/** How long after a rotation deliveries are signed with the secret before it too: time to bring the new one to the receiver. */
export const ROTATION_MS = 86_400_000;

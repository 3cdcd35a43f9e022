/** A rule that did not hold. */
export interface Violation {
  /** The number of the rule, or of the first of several that it breaks. */
  readonly rule: string;
  /** True time, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The schedule, if it is about one. */
  readonly schedule?: string;
  /** What was and what should have been. */
  readonly message: string;
}

/** Says that a rule did not hold. */
export type Report = (rule: string, message: string, schedule?: string) => void;

/** What the checker has to know of a simulation besides its trace. */
export interface Bounds {
  readonly leaseMs: number;
  /** How late anything may be done on an instance that is able. */
  readonly lateMs: number;
}

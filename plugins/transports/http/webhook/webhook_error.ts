import { FaultError, type FaultErrorOptions } from "../../../../src/contract/mod.ts";

/** A delivery that failed; its message names the host and tells no path, which may be a secret of the receiver's. */
export class WebhookError extends FaultError {
  /** Always `"WebhookError"`. */
  override readonly name = "WebhookError";
  /** What the receiver answered; absent where it did not. */
  declare readonly status?: number;

  /** Makes the fault of a delivery. */
  constructor(message: string, { status, ...options }: FaultErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    if (status !== undefined) this.status = status;
  }
}

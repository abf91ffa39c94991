import type { Answer } from './answer.ts';
import type { BootRequest } from './request.ts';

/** One row of the boot listener's table. GET and HEAD alone are served. */
export interface Route {
  /** As documentation writes it: `/images/sha256/<digest>`. */
  path: string;
  /** Which paths are this row's. */
  pattern: RegExp;
  /** Bytes that a machine takes in many pieces: bounded by connections and transfers, not by the number of requests. */
  isDownload?: boolean;
  /** Undefined: there is no such thing. */
  answer(request: BootRequest): Answer | undefined | Promise<Answer | undefined>;
}

export function routeOf(routes: readonly Route[], path: string): Route | undefined {
  return routes.find(({ pattern }) => pattern.test(path));
}

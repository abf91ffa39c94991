import type { Static, TSchema } from 'typebox';
import type { RateLimiter } from '#doors/rateLimiter.ts';
import type { CentralContext } from '../context.ts';
import type { Engine } from '../workflows/engine.ts';
import type { Scope } from './grants.ts';
import type { Caller } from './tokens.ts';

/** What API methods work with. */
export interface ApiContext extends CentralContext {
  engine: Engine;
  /** How often one token may be refused a change. */
  refusals: RateLimiter;
}

/** One method of the API: `POST /api/compute/<group>/<name>`. */
export interface Method<Input extends TSchema = TSchema> {
  kind: 'read' | 'mutation';
  /** What a grant must allow. */
  action: string;
  input: Input;
  /** The scopes of the thing called upon, from narrow to wide: a grant on any of them suffices. */
  scopes: (input: Static<Input>) => Scope[];
  /** Whether a call may wait for something to happen; only such a call is worth watching its caller. */
  waits?: boolean;
  /**
   * A list of things of this kind: who is granted the action on single ones alone is let in too, and `caller.only` then says which
   * ones `run` may answer.
   */
  items?: Scope['kind'];
  /** The tenant that the input names is made by this method. */
  makesTenant?: true;
  /** `stop` aborts when the centre stops, and when the caller of a method that `waits` hangs up. */
  run: (context: ApiContext, input: Static<Input>, caller: Caller, stop: AbortSignal) => Promise<unknown>;
}

/** The methods of one group by name. */
export type Group = Readonly<Record<string, Method>>;

/** Ties the types of a method's schema and functions together, then forgets them, so that methods fit one table. */
export function method<Input extends TSchema>(definition: Method<Input>): Method {
  return definition as unknown as Method;
}

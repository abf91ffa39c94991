import { type CliEnvironment, type ClientFlags, withApi } from './client.ts';
import { allPages } from './pages.ts';
import { printList, printRecord } from './print.ts';

type ApiMethod = `${string}.${string}`;

/** The flags of a command for what belongs to one tenant. */
export type TenantFlags = ClientFlags & { tenant: string };

/** Calls a method of the API and prints the record that it answers. */
export async function callAndPrint(
  environment: CliEnvironment,
  flags: ClientFlags,
  method: ApiMethod,
  input: object,
): Promise<void> {
  const record = await withApi(environment, flags, (call) => call<object>(method, input));
  printRecord(record, flags.format);
}

/** Reads every page of a list method and prints the rows; a table has just these columns. */
export async function listAndPrint(
  environment: CliEnvironment,
  flags: ClientFlags,
  method: ApiMethod,
  { input = {}, columns }: { input?: object; columns: readonly string[] },
): Promise<void> {
  const rows = await withApi(environment, flags, (call) => allPages<object>(call, method, input));
  printList(rows, columns, flags.format);
}

/** The fields that were given: an option that is left out must not reach the API as `null`. */
export function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

import type { CallApi } from './client.ts';

/** Every item of a list method, page after page. */
export async function allPages<Item extends object>(
  call: CallApi,
  method: `${string}.${string}`,
  input: object,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const more = cursor === undefined ? {} : { cursor };
    const page = await call<{ items: Item[]; cursor?: string }>(method, { ...input, limit: 200, ...more });
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return items;
}

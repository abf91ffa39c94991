import Type, { type Static, type TSchema } from 'typebox';
import { RailheadError } from '#contract/errors.ts';

/** The paging fields of every list method. */
export const pageFields = {
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String({ maxLength: 256 })),
};
const Page = Type.Object(pageFields);
export type Page = Static<typeof Page>;

/** The schema of a page of `item`. */
export function pageSchema<Item extends TSchema>(item: Item) {
  const fields = { items: Type.Array(item), cursor: Type.Optional(Type.String()) };
  return Type.Object(fields, { additionalProperties: false });
}

/** One page: `cursor` is there when more may follow. */
export interface PageOf<Item> {
  items: Item[];
  cursor?: string;
}

/**
 * A position in an ordered list, opaque to callers. One name stands as it is, behind a tilde: base64 would make a long one longer than a
 * cursor may be.
 */
export function encodeCursor(key: readonly (string | number)[]): string {
  const [name] = key;
  if (key.length === 1 && typeof name === 'string' && /^[\w.:/-]+$/.test(name)) return `~${name}`;
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * The position that `cursor` stands for, whose parts have these types.
 * @throws RailheadError INVALID_INPUT for what `encodeCursor` did not make
 */
export function decodeCursor<Key extends readonly ('string' | 'number')[]>(
  cursor: string,
  ...types: Key
): { [Part in keyof Key]: Key[Part] extends 'string' ? string : number } {
  const key = parse(cursor);
  if (!Array.isArray(key) || key.length !== types.length || !types.every((type, at) => isPart(key[at], type)))
    throw foreignCursor();
  return key as never;
}

/** That a cursor is of no page. */
export function foreignCursor(): RailheadError {
  const message = 'pass the cursor of the page before, unchanged';
  return new RailheadError('INVALID_INPUT', message, { path: 'cursor' });
}

/** A number in a cursor is a version or a position: what no integer column holds would only make the database complain. */
function isPart(value: unknown, type: 'string' | 'number'): boolean {
  return type === 'number' ? Number.isSafeInteger(value) : typeof value === 'string' && !value.includes('\0');
}

/** Cuts rows that were asked for with one more than `limit` to a page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => readonly (string | number)[],
  present: (row: Row) => Item,
): PageOf<Item> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const items = page.map(present);
  return rows.length > limit && last !== undefined ? { items, cursor: encodeCursor(keyOf(last)) } : { items };
}

function parse(cursor: string): unknown {
  if (cursor.startsWith('~')) return [cursor.slice(1)];
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

import type { Static, TObject } from 'typebox';
import { Value } from 'typebox/value';
import type { Sqlite } from '#base/sqlite.ts';

/** What was learnt of each BMC, by its address: kept so that no restart has to find it out again. */
export interface BmcMemories {
  /**
   * The memory of one BMC: an object whose changes are kept as they are made. What the schema does not allow is remembered as long as
   * the process lives, and a row that it does not allow is none.
   */
  of<Schema extends TObject>(address: string, schema: Schema): Static<Schema>;
  /** Forgets all BMCs but those of these hosts. */
  keepOnly(hosts: ReadonlySet<string>): void;
}

export function openBmcMemories(database: Sqlite): BmcMemories {
  const find = database.prepare<[string], { document: string }>(
    'SELECT document FROM bmc_memories WHERE address = ?',
  );
  const put = database.prepare('INSERT OR REPLACE INTO bmc_memories (address, document) VALUES (?, ?)');
  const all = database.prepare<[], { address: string }>('SELECT address FROM bmc_memories');
  const remove = database.prepare('DELETE FROM bmc_memories WHERE address = ?');
  const open = new Map<string, object>();

  function load<Schema extends TObject>(address: string, schema: Schema): object {
    let kept = find.get(address)?.document;
    const memory = parsed(kept, schema);
    return watched(memory, () => {
      const document = JSON.stringify(memory);
      if (document === kept || !Value.Check(schema, memory)) return;
      put.run(address, document);
      kept = document;
    });
  }

  return {
    of: (address, schema) => {
      const memory = open.get(address) ?? load(address, schema);
      open.set(address, memory);
      return memory as Static<typeof schema>;
    },
    keepOnly: (hosts) => {
      for (const address of new Set([...open.keys(), ...all.all().map((row) => row.address)])) {
        if (hosts.has(URL.parse(address)?.hostname ?? '')) continue;
        remove.run(address);
        open.delete(address);
      }
    },
  };
}

function parsed(document: string | undefined, schema: TObject): object {
  try {
    const found: unknown = JSON.parse(document ?? '{}');
    return Value.Check(schema, found) ? (found as object) : {};
  } catch {
    return {};
  }
}

/** The object as whoever learns writes it: plainly, field by field. */
function watched(memory: object, onChange: () => void): object {
  const noted = (isChanged: boolean) => {
    if (isChanged) onChange();
    return isChanged;
  };
  return new Proxy(memory, {
    set: (target, name, value) => noted(Reflect.set(target, name, value)),
    deleteProperty: (target, name) => noted(Reflect.deleteProperty(target, name)),
  });
}

/**
 * The metadata calls of `Reflect` that @peculiar/x509's dependency container refuses to start without. Importing this
 * module adds them where they are missing; it must come before that package.
 */
const metadata = new WeakMap<object, Map<unknown, unknown>>();

function defineMetadata(key: unknown, value: unknown, target: object): void {
  const entries = metadata.get(target) ?? new Map<unknown, unknown>();
  metadata.set(target, entries.set(key, value));
}

function getOwnMetadata(key: unknown, target: object): unknown {
  return metadata.get(target)?.get(key);
}

function getMetadata(key: unknown, target: object): unknown {
  for (let holder: object | null = target; holder !== null; holder = Object.getPrototypeOf(holder))
    if (metadata.get(holder)?.has(key)) return metadata.get(holder)?.get(key);
  return undefined;
}

if (!('getMetadata' in Reflect)) Object.assign(Reflect, { defineMetadata, getOwnMetadata, getMetadata });

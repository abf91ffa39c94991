import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are still held after a full collection, those of Buffers included. */
export async function heldBytes(): Promise<number> {
  // What Buffers held is given back beside the collection: the next ones see it gone.
  for (let time = 0; time < 4; time++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

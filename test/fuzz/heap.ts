import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that are still held after a full collection, those of Buffers included. */
export function heldBytes(): number {
  collect();
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

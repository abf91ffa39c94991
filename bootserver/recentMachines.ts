/** Machines remembered at least, twice as many at most; a flood of made-up MACs drops those that were heard of longest ago. */
const capacity = 4096;

/** What is known of the machines that were heard of last, by MAC. */
export class RecentMachines<Known> {
  #newer = new Map<string, Known>();
  /** Those of the time before, which go together: to drop the oldest one by one is slow in a flood. */
  #older = new Map<string, Known>();

  get(mac: string): Known | undefined {
    return this.#newer.get(mac) ?? this.#older.get(mac);
  }

  /** Takes the place of what is known; the machine is the newest. */
  set(mac: string, known: Known): void {
    this.#newer.set(mac, known);
    if (this.#newer.size < capacity) return;
    this.#older = this.#newer;
    this.#newer = new Map();
  }

  delete(mac: string): void {
    this.#newer.delete(mac);
    this.#older.delete(mac);
  }
}

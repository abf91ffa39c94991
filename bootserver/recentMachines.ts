/** Machines remembered; a flood of made-up MACs drops those that were heard of longest ago. */
const capacity = 4096;

/** What is known of the machines that were heard of last, by MAC. */
export class RecentMachines<Known> {
  readonly #known = new Map<string, Known>();

  get(mac: string): Known | undefined {
    return this.#known.get(mac);
  }

  /** Takes the place of what is known; the machine is the newest. */
  set(mac: string, known: Known): void {
    this.#known.delete(mac);
    this.#known.set(mac, known);
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > capacity && oldest !== undefined) this.#known.delete(oldest);
  }

  delete(mac: string): void {
    this.#known.delete(mac);
  }
}

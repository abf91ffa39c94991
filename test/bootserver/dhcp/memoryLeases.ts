import type { Lease, StoredLeases } from '#bootserver/dhcp/leases.ts';

/** Leases that are stored at once, and last as long as this object. */
export class MemoryLeases implements StoredLeases {
  readonly #leases = new Map<string, Lease>();

  get stored(): Lease[] {
    return [...this.#leases.values()].toSorted((a, b) => a.expiresAt - b.expiresAt);
  }

  set(lease: Lease): void {
    this.#leases.set(lease.address, lease);
  }

  erase(address: string): void {
    this.#leases.delete(address);
  }

  whenStored(action: () => void): void {
    action();
  }

  async close(): Promise<void> {}
}

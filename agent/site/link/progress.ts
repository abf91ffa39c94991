import type { OperationProgress } from '#contract/operations.ts';

/** Progress on its way to the centre: only the newest of each operation, at most about twice a second. */
export interface ProgressBox {
  add(progress: OperationProgress): void;
  /** What is due to be told; it is not kept. */
  take(): OperationProgress[];
  close(): void;
}

export function createProgressBox(wake: () => void, intervalMs = 500): ProgressBox {
  const newest = new Map<string, OperationProgress>();
  let dueAt = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    add(progress) {
      newest.set(progress.operationId, progress);
      timer ??= setTimeout(wake, Math.max(0, dueAt - Date.now()));
    },
    take() {
      if (newest.size === 0 || Date.now() < dueAt) return [];
      clearTimeout(timer);
      timer = undefined;
      dueAt = Date.now() + intervalMs;
      const taken = [...newest.values()];
      newest.clear();
      return taken;
    },
    close: () => clearTimeout(timer),
  };
}

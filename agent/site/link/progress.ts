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
  /** Runs for a while after each telling. */
  let pause: NodeJS.Timeout | undefined;
  const endPause = () => {
    pause = undefined;
    if (newest.size > 0) wake();
  };
  return {
    add(progress) {
      newest.set(progress.operationId, progress);
      if (pause === undefined) wake();
    },
    take() {
      if (newest.size === 0 || pause !== undefined) return [];
      pause = setTimeout(endPause, intervalMs);
      const taken = [...newest.values()];
      newest.clear();
      return taken;
    },
    close: () => clearTimeout(pause),
  };
}

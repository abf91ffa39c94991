import type { OperationProgress } from '#contract/operations.ts';

/** What a step tells of how far it is. Bytes are of the artifact as stored. */
export type ReportProgress = (phase: string, doneBytes?: number, totalBytes?: number) => void;

export interface ProgressPump {
  report: ReportProgress;
  stop(): void;
}

const everyMs = 500;

/** Sends the newest progress twice a second while an operation runs; a send that fails is not repeated, and none overlaps another. */
export function startProgress(
  operationId: string,
  send: (progress: OperationProgress) => Promise<void>,
): ProgressPump {
  let newest: Omit<OperationProgress, 'at'> = { operationId, phase: 'begun' };
  let sending = false;
  const tick = () => {
    if (sending) return;
    sending = true;
    send({ ...newest, at: new Date().toISOString() })
      .catch(() => {})
      .finally(() => {
        sending = false;
      });
  };
  const timer = setInterval(tick, everyMs);
  return {
    report: (phase, doneBytes, totalBytes) => {
      newest = {
        operationId,
        phase,
        ...(doneBytes !== undefined && { doneBytes }),
        ...(totalBytes !== undefined && { totalBytes }),
      };
    },
    stop: () => clearInterval(timer),
  };
}

/** Short waits, so that tests of retries and restarts are quick. */
export const testTimes = {
  retryDelayMs: 20,
  claimMs: 30_000,
  cancelGraceMs: 500,
  resumeGraceMs: 5_000,
  inventoryEveryMs: 100,
  removeEveryMs: 3_600_000,
};

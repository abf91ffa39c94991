import { expect, test } from 'vitest';
import { confirmOperation } from '#agent/site/drivers/confirmOperation.ts';
import { createRequests } from '#agent/site/drivers/requests.ts';
import { silentLog } from '#base/log.ts';
import { setUpExecutor } from '../bench/executorBench.ts';

async function site() {
  const bench = await setUpExecutor();
  const requests = createRequests({ add: () => {} }, () => {});
  const parts = { journal: bench.state.journal, requests, log: silentLog() };
  const request = requests.ask({ nodeId: 'node_01bench', macs: [] }, 'switch off node_01bench');
  return { bench, request, confirm: (operationId: string) => confirmOperation(operationId, parts) };
}

test('the word on an operation that runs is the word on what its node is asked', async () => {
  const { bench, request, confirm } = await site();
  const running = bench.journal('power.setPower', { action: 'off' }, { started: Date.now() });
  confirm(running);
  expect(request.confirmed).toBe(true);
});

test('the word on an operation that has ended, that waits, or that nobody knows ends nothing', async () => {
  const { bench, request, confirm } = await site();
  const ended = bench.journal('power.setPower', { action: 'on' }, { started: Date.now() });
  bench.state.journal.finish({ operationId: ended, outcome: 'failed', finishedAt: new Date().toISOString() });
  for (const operationId of [ended, bench.journal('power.setPower', { action: 'off' }), 'op_unknown'])
    confirm(operationId);
  expect(request.confirmed).toBe(false);
});

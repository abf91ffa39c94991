import { visible } from '#base/visible.ts';
import { inUnits } from './print.ts';

/** One line that shows how far something is. Written to a terminal only: a log file is spared. */
export interface ProgressBar {
  show(doneBytes: number, totalBytes: number | undefined): void;
  end(): void;
}

const width = 30;

export function progressBar(label: string, stream: NodeJS.WriteStream = process.stderr): ProgressBar {
  if (!stream.isTTY) return { show: () => {}, end: () => {} };
  const begun = performance.now();
  return {
    show: (doneBytes, totalBytes) => {
      const seconds = (performance.now() - begun) / 1000;
      stream.write(`\r\u001b[K${barText(visible(label), { doneBytes, totalBytes, seconds })}`);
    },
    end: () => void stream.write('\n'),
  };
}

interface Progress {
  doneBytes: number;
  totalBytes: number | undefined;
  seconds: number;
}

/** `demo@1 [======>   ]  40 % 400.0 MiB of 1000.0 MiB, 100.0 MiB/s, 6 s left`; without a total what has come and how fast. */
function barText(label: string, { doneBytes, totalBytes, seconds }: Progress): string {
  const rate = seconds > 0 ? doneBytes / seconds : 0;
  const speed = `${inUnits(Math.round(rate))}/s`;
  if (totalBytes === undefined || totalBytes === 0) return `${label} ${inUnits(doneBytes)}, ${speed}`;
  const share = Math.min(1, doneBytes / totalBytes);
  const filled = '='.repeat(Math.floor(share * width)).padEnd(width);
  const left = rate > 0 ? `, ${Math.ceil((totalBytes - doneBytes) / rate)} s left` : '';
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${label} [${filled}] ${percent} % ${inUnits(doneBytes)} of ${inUnits(totalBytes)}, ${speed}${left}`;
}

/** Gathers what a console prints. */
export function listener() {
  let heard = '';
  const waiting = new Set<() => void>();
  return {
    output: (bytes: Buffer) => {
      heard += bytes.toString('utf8');
      for (const look of waiting) look();
    },
    get heard() {
      return heard;
    },
    /** Resolves once this was printed. */
    hears: (text: string): Promise<void> =>
      new Promise((resolve) => {
        const look = () => {
          if (!heard.includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

/** Where the single executable starts: the daemon, and one hidden command that tests the executable itself. */
if (process.argv[2] === 'self-test') import('./selfTest.ts').then(({ selfTest }) => selfTest());
else import('../bcd.ts');

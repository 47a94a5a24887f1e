// The points of the sample: always the same, except for the day on which they end.

const ROOMS = [
  { name: 'kitchen', floor: 'ground', celsius: 21, swing: 3 },
  { name: 'living', floor: 'ground', celsius: 21.5, swing: 1.5 },
  { name: 'bedroom', floor: 'upper', celsius: 18.5, swing: 1 },
  { name: 'attic', floor: 'upper', celsius: 19, swing: 5 },
] as const;

const MINUTES = 24 * 60;

/** Lines of the day before `endMs`, one per room and minute. */
export function sampleLines(endMs: number): string {
  const lines: string[] = [];
  for (let minute = 0; minute < MINUTES; minute++) {
    const timeMs = endMs - (MINUTES - minute) * 60_000;
    const sun = Math.sin(((timeMs % 86_400_000) / 86_400_000) * 2 * Math.PI - Math.PI / 2);
    for (const [at, { name, floor, celsius, swing }] of ROOMS.entries()) {
      // Not random: reproducible, yet not smooth.
      const noise = Math.sin(minute * (1.7 + at) + at) * 0.25;
      const value = (celsius + sun * swing + noise).toFixed(2);
      const humidity = (55 - sun * 8 + at * 2 + noise * 4).toFixed(1);
      const door = Math.floor(minute / (37 + at * 5)) % 6 === 0;
      lines.push(
        `room,name=${name},floor=${floor} celsius=${value},humidity=${humidity},open=${door} ${timeMs}`,
      );
    }
  }
  return lines.join('\n');
}

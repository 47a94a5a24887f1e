// An hour of Telegraf's points about three machines, one per minute.
const MINUTES = 60;
const GIB = 2 ** 30;
const HOSTS = ['a', 'b', 'c'];

/** Lines until now. */
export function foreignLines(nowMs: number): string {
  const lines: string[] = [];
  for (let i = 0; i < MINUTES; i++) {
    const time = BigInt(nowMs - (MINUTES - i) * 60_000) * 1_000_000n;
    for (const [at, host] of HOSTS.entries()) {
      const wave = Math.sin(i / 7 + at);
      const add = (measurement: string, fields: string): void => {
        const [name = '', ...tags] = measurement.split(',');
        lines.push(`${[name, `host=${host}`, ...tags].join(',')} ${fields} ${time}`);
      };
      add(
        'cpu,cpu=cpu-total',
        `usage_user=${(40 + 20 * wave).toFixed(2)},usage_system=${10 + at},usage_iowait=${(2 + wave).toFixed(2)},usage_idle=${50 - at}`,
      );
      add('mem', `used_percent=${60 + at * 10},used=${(at + 1) * GIB}i,free=${(4 - at) * GIB}i`);
      add(
        'system',
        `load1=${(2 + wave).toFixed(2)},load5=${1 + at},load15=1.5,uptime=${100_000 + i * 60}i,n_users=${1 + (i % 3)}i`,
      );
      for (const path of ['/', '/var']) {
        add(`disk,path=${path}`, `used_percent=${50 + at * 15},free=${(8 - at) * GIB}i`);
      }
      for (const name of ['sda', 'sdb']) {
        add(`diskio,name=${name}`, `reads=${i * 50 + 10}i,writes=${i * 20 + 5}i`);
      }
      for (const name of ['eth0', 'eth1']) {
        add(
          `net,interface=${name}`,
          `bytes_recv=${i * 60_000}i,bytes_sent=${i * 20_000}i,err_in=${i % 2}i`,
        );
      }
      for (const service of ['s0', 's1', 's2']) {
        const isUp = !(service === 's2' && i > 40);
        add(
          `service,service=${service}`,
          `up=${isUp ? 1 : 0}i,latency=${(30 + at * 20 + 10 * wave).toFixed(1)},state="${isUp ? 'running' : 'failed'}"`,
        );
      }
    }
    if (i % 20 === 10) lines.push(`events,tags=x title="deployed ${i}" ${time}`);
  }
  return lines.join('\n');
}

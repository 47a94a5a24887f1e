// Examples of every command, by its path; `--help` and the reference page show them. A test checks
// that their options exist.
import type { Command } from 'commander';

/** Command lines without the name of the executable. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  up: ['up', 'up --data-dir /var/lib/tidemark --config /etc/tidemark.toml', 'up --profile small'],
  tsdb: ['tsdb --data-dir /var/lib/tidemark --bind 127.0.0.1:8086'],
  'tsdb export': ['tsdb export --database house --out house.gz --compress'],
  'tsdb import': [
    'tsdb import --from http://old:8086',
    'tsdb import --file export.gz --compressed',
  ],
  'tsdb migrate': [
    'tsdb migrate --from http://one:8086 --to http://many:8086',
    'tsdb migrate --from http://one:8086 --to http://many:8086 --last',
  ],
  'tsdb setup': ['tsdb setup --username admin'],
  'tsdb backup': ['tsdb backup all.tdmbak', 'tsdb backup house.tdmbak --database house'],
  'tsdb restore': ['tsdb restore all.tdmbak --data-dir ./new'],
  'tsdb verify': ['tsdb verify --data-dir ./data'],
  'tsdb repair': ['tsdb repair --data-dir ./data'],
  'tsdb inspect': ['tsdb inspect --data-dir ./data'],
  engine: ['engine --tsdb-url http://127.0.0.1:8086 --data-dir /var/lib/tidemark'],
  'engine config': ['engine config', 'engine config tsdb default'],
  'engine leave': ['engine leave --from /var/lib/tidemark/engine'],
  'engine join': ['engine join --from /var/lib/old-engine --config /etc/tidemark/engine.toml'],
  'engine members': ['engine members', 'engine members --url http://engine-2:9092 --json'],
  'engine drain': ['engine drain http://engine-2:9092'],
  'engine backup': ['engine backup engine.mdb'],
  'engine logs': ['engine logs task=hot --level info', 'engine logs service=http --json'],
  'engine level': ['engine level debug'],
  'engine stats': ['engine stats', 'engine stats ingress'],
  'engine import': [
    'engine import --from http://old:9092 --dry-run',
    'engine import --from http://user:password@old:9092 --disabled',
    "engine import --from http://old:9092 --pattern 'cpu*' --overwrite",
  ],
  'cluster up': ['cluster up --dir ./cluster', 'cluster up --dir ./small --shards 1 --replicas 1'],
  'cluster status': ['cluster status --dir ./cluster --json'],
  'cluster down': ['cluster down --dir ./cluster'],
  'engine-cluster up': [
    'engine-cluster up --dir ./engines',
    'engine-cluster up --dir ./five --instances 5',
  ],
  'engine-cluster status': ['engine-cluster status --dir ./engines --json'],
  'engine-cluster down': ['engine-cluster down --dir ./engines'],
  'config default': ['config default > tidemark.toml', 'config default --for engine'],
  'config check': ['config check tidemark.toml', 'config check engine.toml --for engine --json'],
  setup: [
    'setup --username admin',
    'setup --username admin --config tidemark.toml --scripts ./tasks',
  ],
  'config convert': [
    'config convert /etc/influxdb/influxdb.conf /etc/kapacitor/kapacitor.conf > tidemark.toml',
    'config convert /etc/kapacitor/kapacitor.conf --for engine > engine.toml',
    'config convert kapacitor.conf --scripts ./tasks --allow-found > tidemark.toml',
  ],
  shell: [
    'shell --database house',
    "shell --database house --execute 'SELECT mean(celsius) FROM room' --format csv",
    'shell --import --path points.txt.gz --compressed',
  ],
  'task define': [
    'task define hot --script hot.tick --dbrp house.autogen',
    'task define hot --script - < hot.tick',
    'task define hot_10 --template hot --vars vars.yaml --dbrp house.autogen',
    'task define hot_10 --file hot_10.yaml --no-reload',
  ],
  'task list': ['task list', "task list 'hot*' --json"],
  'task show': ['task show hot', 'task show hot --replay REPLAY'],
  'task enable': ['task enable hot', "task enable 'hot*'"],
  'task disable': ["task disable 'hot*' cold"],
  'task reload': ['task reload hot'],
  'task delete': ['task delete hot'],
  'task output': ['task output hot latest'],
  'task stats': ['task stats hot'],
  'task watch': ['task watch hot', 'task watch hot node=log2 --level info --lines 10'],
  'task tap': ['task tap hot where2 --group host=a', 'task tap hot alert4 --replay REPLAY'],
  'task push': ['task push ./definitions --enable'],
  'task test': ['task test ./tests --junit junit.xml', 'task test ./tests --watch'],
  'task pipeline': [
    'task pipeline hot.tick > hot.json',
    'task pipeline hot.json > hot.tick',
    'task pipeline hot.tick --vars vars.yaml --to script',
  ],
  'template define': ['template define above --script above.tick'],
  'template list': ["template list 'a*'"],
  'template show': ['template show above'],
  'template delete': ['template delete above'],
  'recording stream': [
    'record stream --task hot --duration 5m',
    'record stream --task hot --duration 1h --id monday --no-wait',
  ],
  'recording batch': [
    'record batch --task means --past 1h',
    'record batch --task means --start 2024-01-01T00:00:00Z --stop 2024-01-02T00:00:00Z',
  ],
  'recording query': [
    "record query --type stream --query 'SELECT * FROM house.autogen.room'",
    "record query --type batch --cluster east --query 'SELECT * FROM house.autogen.room'",
  ],
  'recording list': ['recording list', "recording list 'mon*'"],
  'recording show': ['recording show monday'],
  'recording delete': ["recording delete monday 'tue*'"],
  'replay recording': [
    'replay recording --recording monday --task hot',
    'replay recording --recording monday --task hot --real-clock --rec-time',
  ],
  'replay batch': ['replay batch --task means --past 1h'],
  'replay query': ["replay query --task hot --query 'SELECT * FROM house.autogen.room'"],
  'replay list': ['replay list'],
  'replay show': ['replay show REPLAY'],
  'replay delete': ["replay delete '*'"],
  'replay-live batch': ['replay-live batch --task means --past 1h'],
  'replay-live query': [
    "replay-live query --task hot --query 'SELECT * FROM house.autogen.room' --rec-time",
  ],
  'topic list': ['topic list', "topic list 'c*' --min-level WARNING"],
  'topic show': ['topic show cpu', 'topic show cpu --min-level CRITICAL'],
  'topic delete': ['topic delete cpu'],
  'dead-letter list': ['dead-letter list', 'dead-letter list --topic cpu --handler ops'],
  'dead-letter retry': [
    'dead-letter retry --all',
    'dead-letter retry --topic cpu',
    'dead-letter retry 17',
  ],
  'dead-letter drop': ['dead-letter drop --topic cpu --handler ops'],
  'handler define': ['handler define handler.yaml'],
  'handler list': ['handler list', "handler list 'cpu*'"],
  'handler show': ['handler show cpu ops'],
  'handler delete': ["handler delete cpu 'o*'"],
  'service-test list': ['service-test list'],
  'service-test run': [
    `service-test run tsdb --options '{"cluster":"default"}'`,
    "service-test run smtp 'pager*'",
  ],
  version: ['version', 'version --json'],
  completion: ['completion bash > /etc/bash_completion.d/tidemark'],
};

/** Puts examples at the end of the help of each command of a tree. */
export function addExamples(program: Command): void {
  for (const [path, command] of commandsOf(program)) {
    const examples = EXAMPLES[path];
    if (examples === undefined) continue;
    const lines = examples.map((line) => `  $ tidemark ${line}`);
    command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  }
}

/** Every command below the root with its path, groups before their verbs. */
export function commandsOf(
  command: Command,
  above: readonly string[] = [],
): readonly (readonly [path: string, command: Command])[] {
  return command.commands.flatMap((child) => {
    const path = [...above, child.name()];
    return [[path.join(' '), child] as const, ...commandsOf(child, path)];
  });
}

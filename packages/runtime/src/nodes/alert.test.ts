// alert: levels and events.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test only changes of the level are told where only they are wanted
script
    stream|from().measurement('m')|alert().topic('t').id('x').message('{{ .Level }}').crit(lambda: "v" > 5.0).stateChangesOnly()
write
    m v=1 0
    m v=6 1
    m v=7 2
    m v=1 3
events
    1970-01-01T00:00:01Z | x | CRITICAL | OK | 0 | CRITICAL | [["1970-01-01T00:00:01Z",6]]
    1970-01-01T00:00:03Z | x | OK | CRITICAL | 2000000000 | OK | [["1970-01-01T00:00:03Z",1]]

test a level is left only when its reset says so
script
    stream|from().measurement('m')|alert().topic('t').id('x').message('{{ .Level }}')
        .warn(lambda: "v" > 5.0).warnReset(lambda: "v" < 3.0)
write
    m v=6 0
    m v=4 1
    m v=2 2
events
    1970-01-01T00:00:00Z | x | WARNING | OK | 0 | WARNING | [["1970-01-01T00:00:00Z",6]]
    1970-01-01T00:00:01Z | x | WARNING | WARNING | 1000000000 | WARNING | [["1970-01-01T00:00:01Z",4]]
    1970-01-01T00:00:02Z | x | OK | WARNING | 2000000000 | OK | [["1970-01-01T00:00:02Z",2]]

test a flapping level is not told
script
    stream|from().measurement('m')|alert().topic('t').id('x').message('{{ .Level }}')
        .crit(lambda: "v" > 5.0).flapping(0.2, 0.5).history(5)
write
    m v=6 0
    m v=1 1
    m v=6 2
    m v=1 3
    m v=6 4
    m v=1 5
    m v=6 6
events
    1970-01-01T00:00:00Z | x | CRITICAL | OK | 0 | CRITICAL | [["1970-01-01T00:00:00Z",6]]
    1970-01-01T00:00:01Z | x | OK | CRITICAL | 1000000000 | OK | [["1970-01-01T00:00:01Z",1]]

test an inhibited category is quiet while the other alerts
script
    var data = stream|from().measurement('m').groupBy('h')
    data|alert().topic('t').id('cause').message('{{ .Level }}').crit(lambda: "v" > 5.0).inhibit('effect', 'h')
    data|alert().topic('t').id('effect').message('{{ .Level }}').category('effect').crit(lambda: "v" > 3.0)
write
    m,h=a v=4 0
    m,h=a v=6 1
    m,h=a v=4 2
    m,h=a v=4 3
events
    1970-01-01T00:00:00Z | effect | CRITICAL | OK | 0 | CRITICAL | [["1970-01-01T00:00:00Z",4]]
    1970-01-01T00:00:01Z | cause | CRITICAL | OK | 0 | CRITICAL | [["1970-01-01T00:00:01Z",6]]
    1970-01-01T00:00:02Z | cause | OK | CRITICAL | 1000000000 | OK | [["1970-01-01T00:00:02Z",4]]
    1970-01-01T00:00:02Z | effect | CRITICAL | CRITICAL | 2000000000 | CRITICAL | [["1970-01-01T00:00:02Z",4]]
    1970-01-01T00:00:03Z | effect | CRITICAL | CRITICAL | 3000000000 | CRITICAL | [["1970-01-01T00:00:03Z",4]]
`);

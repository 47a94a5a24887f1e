// stats: how many points a node has emitted.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test counters are emitted at the interval, per group
script
    var data = stream|from().measurement('m').groupBy('h')
    data|stats(10s)|httpOut('out')
    data|log()
write
    m,h=a v=1 1704067200
    m,h=a v=1 1704067201
    m,h=b v=1 1704067202
advance 10s
emits stats2
    {"columns":["time","emitted"],"name":"stats","tags":{"h":"a"},"values":[["2024-01-01T00:00:10Z",2]]}
    {"columns":["time","emitted"],"name":"stats","tags":{"h":"b"},"values":[["2024-01-01T00:00:10Z",1]]}
`);

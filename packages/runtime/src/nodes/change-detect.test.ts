// changeDetect: points that differ from the one before.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test only a change is emitted, per group
script
    stream|from().measurement('m').groupBy('h')|changeDetect('v')|httpOut('out')
write
    m,h=a v=1 0
    m,h=a v=1 1
    m,h=b v=1 2
    m,h=a v=2 3
    m,h=a v=1 4
emits changeDetect2
    {"columns":["time","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:00Z",1]]}
    {"columns":["time","v"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:02Z",1]]}
    {"columns":["time","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:03Z",2]]}
    {"columns":["time","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:04Z",1]]}
`);

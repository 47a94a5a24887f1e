// cumulativeSum: a running sum.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test every group has a sum of its own
script
    stream|from().measurement('m').groupBy('h')|cumulativeSum('v')|httpOut('out')
write
    m,h=a v=1i 0
    m,h=b v=5i 0
    m,h=a v=2i 1
emits cumulativeSum2
    {"columns":["time","cumulativeSum"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:00Z",1]]}
    {"columns":["time","cumulativeSum"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:00Z",5]]}
    {"columns":["time","cumulativeSum"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:01Z",3]]}
`);

// min: the point with the smallest value.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is the point with the smallest value
script
    stream|from().measurement('m')|window().period(10s).every(10s)|min('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits min3
    {"columns":["time","min"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:10Z",1]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|min('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits min2
write
    m,h=a v=9 1
emits min2
    {"columns":["time","min"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:00Z",1]]}
`);

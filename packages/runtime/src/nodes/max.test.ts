// max: the point with the largest value.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is the point with the largest value, the first of several
script
    stream|from().measurement('m')|window().period(10s).every(10s)|max('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits max3
    {"columns":["time","max"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:10Z",4]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|max('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits max2
write
    m,h=a v=9 1
emits max2
    {"columns":["time","max"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:00Z",4]]}
`);

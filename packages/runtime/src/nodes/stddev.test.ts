// stddev: the standard deviation of a sample.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is the standard deviation of a sample
script
    stream|from().measurement('m')|window().period(10s).every(10s)|stddev('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits stddev3
    {"columns":["time","stddev"],"name":"m","values":[["1970-01-01T00:00:10Z",1.7320508075688772]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|stddev('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits stddev2
write
    m,h=a v=9 1
emits stddev2
    {"columns":["time","stddev"],"name":"m","values":[["1970-01-01T00:00:00Z",1.7320508075688772]]}
`);

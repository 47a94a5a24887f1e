// holtWinters: a forecast, with the numbers that InfluxDB was recorded to give for the same points.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test a forecast begins behind the last point
script
    stream|from().measurement('price')|window().periodCount(16).everyCount(16)|holtWinters('v', 3, 0, 1m)|httpOut('out')
write
    price,sym=aa v=10,i=100i 1590969600
    price,sym=aa v=12,i=120i 1590969660
    price,sym=aa v=11,i=110i 1590969720
    price,sym=aa v=15,i=150i 1590969780
    price,sym=aa v=15,i=150i 1590969840
    price,sym=aa v=18,i=180i 1590969900
    price,sym=aa v=14,i=140i 1590969960
    price,sym=aa v=13,i=130i 1590970020
    price,sym=aa v=17,i=170i 1590970080
    price,sym=aa v=21,i=210i 1590970140
    price,sym=aa v=20,i=200i 1590970200
    price,sym=aa v=26,i=260i 1590970260
    price,sym=aa v=24,i=240i 1590970320
    price,sym=aa v=25,i=250i 1590970380
    price,sym=aa v=30,i=300i 1590970440
    price,sym=aa v=28,i=280i 1590970500
emits holtWinters3
    {"columns":["time","holtWinters"],"name":"price","values":[["2020-06-01T00:16:00Z",32.23146201132003],["2020-06-01T00:17:00Z",34.740347704758726],["2020-06-01T00:18:00Z",37.4736656285115]]}
`);

package stored

import (
	"encoding/binary"
	"errors"
	"math"
)

// errNoWeight means that a part has no weight.
var errNoWeight = errors.New("a part has no weight")

// errEnd means that the bytes end too early.
var errEnd = errors.New("it ends too early")

// steps is how many steps a rounded number has between two whole ones.
const steps = 4096

// appendShort appends a number that is not negative, with 8 significant bits: the upper half of a float32.
func appendShort(b []byte, x float64) []byte {
	if !(x > 0) {
		x = 0
	}
	bits := math.Float32bits(float32(min(x, mostWeight)))
	return binary.LittleEndian.AppendUint16(b, uint16((bits+0x8000)>>16))
}

// appendRounded appends a number between −8 and 8.
func appendRounded(b []byte, x float64) []byte {
	if math.IsNaN(x) {
		x = 0
	}
	return binary.LittleEndian.AppendUint16(b, uint16(int16(math.Round(min(max(x*steps, math.MinInt16), math.MaxInt16)))))
}

// Single bytes count sixteenths of doublings of replicas, twelfths of doublings of variances, percents of how busy nodes are, quarters of
// days, and 64ths of the logarithms of load and of sizes. Times before the last hour are counted in sixths of days. Weights of cells are counted in
// fourteenths of doublings, and cores in tenths.
const replicaSteps, weightSteps, coreSteps, spreadSteps, busySteps, daySteps, swingSteps, sizeSteps = 16.0, 14.0, 10.0, 12.0, 100.0, 4.0, 64.0, 64.0

const (
	// mostWeight and mostSum are far beyond all weights and sums. Larger ones would have no finite products.
	mostWeight, mostSum = 1e12, 1e24
	// smallest is the smallest variance that a byte has, in doublings.
	smallest = -18
	// leastWeight is the smallest weight that a byte has, in doublings. The largest is far beyond what hours that age add up to.
	leastWeight = -5
	// leastCores is the same of cores: fewer do not count.
	leastCores = -7
	// unknownBusy is the byte of nodes of which it is not known how busy they are.
	unknownBusy = math.MaxUint8
	// agoHours is how many hours a byte counts. A byte reaches beyond the time after which evidence is forgotten.
	agoHours = 6
)

// toByte returns the nearest whole number that fits.
func toByte(x float64) byte {
	if !(x > 0) {
		return 0
	}
	return byte(math.Round(min(x, math.MaxUint8)))
}

// busyByte returns the byte of how busy nodes are.
func busyByte(x float64) byte {
	if !(x >= 0) {
		return unknownBusy
	}
	return toByte(busySteps * min(x, 1))
}

// sizeByte returns the byte of a difference between the logarithms of sizes.
func sizeByte(x float64) byte {
	return byte(int8(math.Round(min(max(x*sizeSteps, math.MinInt8), math.MaxInt8))))
}

// agoByte returns the byte of an hour before the last one.
func agoByte(hour, last int64) byte { return byte(min(max(last-hour, 0)/agoHours, math.MaxUint8)) }

// appendFloat appends a number with the precision of a float32.
func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
}

// spreadByte returns the byte of a variance.
func spreadByte(x float64) byte { return toByte(spreadSteps * (math.Log2(x) - smallest)) }

// doublingsByte returns the byte of a number that counts steps of doublings from the least. It is 0 only if the number is.
func doublingsByte(x, steps, least float64) byte {
	if !(x > 0) {
		return 0
	}
	return max(toByte(steps*(math.Log2(x)-least)), 1)
}

// weightByte returns the byte of a weight of a cell.
func weightByte(x float64) byte { return doublingsByte(x, weightSteps, leastWeight) }

// coresByte returns the byte of cores.
func coresByte(x float64) byte { return doublingsByte(x, coreSteps, leastCores) }

// input is what remains to be read. After the first error, it has no more bytes.
type input struct {
	rest []byte
	err  error
	// version is the version of the form, and last the last hour of all.
	version byte
	last    int64
}

func (in *input) fail(err error) {
	if in.err == nil {
		in.err = err
	}
	in.rest = nil
}

func (in *input) take(n int) []byte {
	if len(in.rest) < n {
		in.fail(errEnd)
		return make([]byte, n)
	}
	b := in.rest[:n]
	in.rest = in.rest[n:]
	return b
}

func (in *input) short() float64 {
	x := math.Float32frombits(uint32(binary.LittleEndian.Uint16(in.take(2))) << 16)
	if !(x >= 0 && x <= mostWeight*1.01) {
		in.fail(errors.New("a weight is negative or too large"))
		return 0
	}
	return float64(x)
}

func (in *input) byte() float64 { return float64(in.take(1)[0]) }

// doublings returns a number that counts steps of doublings from the least; 0 if it is 0.
func (in *input) doublings(steps, least float64) float64 {
	if b := in.byte(); b > 0 {
		return math.Exp2(b/steps + least)
	}
	return 0
}

// cores returns how many cores are used.
func (in *input) cores() float64 { return in.doublings(coreSteps, leastCores) }

// busy returns how busy nodes are; below 0 if that is not known.
func (in *input) busy() float64 {
	b := in.take(1)[0]
	if b == unknownBusy {
		return -1
	}
	return min(float64(b)/busySteps, 1)
}

func (in *input) size() float64 { return float64(int8(in.take(1)[0])) / sizeSteps }

func (in *input) ago(last int64) int64 { return max(last-agoHours*int64(in.take(1)[0]), 0) }

func (in *input) single() float64 {
	x := float64(math.Float32frombits(binary.LittleEndian.Uint32(in.take(4))))
	if math.IsNaN(x) || math.IsInf(x, 0) {
		in.fail(errors.New("a mean is not finite"))
		return 0
	}
	return x
}

// spread returns a variance; 0 for all that are too small.
func (in *input) spread() float64 {
	if b := in.byte(); b > 0 {
		return math.Exp2(b/spreadSteps + smallest)
	}
	return 0
}

func (in *input) rounded() float64 {
	return float64(int16(binary.LittleEndian.Uint16(in.take(2)))) / steps
}

// number returns a whole number below a limit.
func (in *input) number(limit uint64) int {
	x, n := binary.Uvarint(in.rest)
	if n <= 0 {
		in.fail(errEnd)
		return 0
	}
	in.rest = in.rest[n:]
	if x >= limit {
		in.fail(errors.New("a number is too large"))
		return 0
	}
	return int(x)
}

func (in *input) key() uint64 { return binary.LittleEndian.Uint64(in.take(8)) }

func (in *input) float() float64 {
	x := math.Float64frombits(in.key())
	if !(math.Abs(x) <= mostSum) {
		in.fail(errors.New("a sum is not a number or too large"))
		return 0
	}
	return x
}

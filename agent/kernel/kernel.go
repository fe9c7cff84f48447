package kernel

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
)

// set is the version of the kernels. Increase it when the work of a kernel or the way it is timed
// changes, so that scores from before and after the change are not compared.
const set = 3

// Work does one unit of work on one thread. An error means that the result is wrong.
type Work func() error

// Kernel is one benchmark.
type Kernel struct {
	// Name is the benchmark name in samples, e.g. "bench-node:json".
	Name string
	// Unit is the unit of scores, e.g. "MB/s".
	Unit string
	// Amount is the size of a unit of work, e.g. in MB.
	Amount float64
	// Units is how many units of work make one repetition, about 25 ms on a present-day vCPU.
	Units int
	// Live is how many bytes each thread keeps, besides the input that all threads share, and
	// Garbage how many bytes a unit of work leaves behind. Both are for kernels without Memory.
	Live, Garbage int64
	// Memory means that the kernel works on as many bytes as New receives. They must be many
	// more than the caches hold.
	Memory bool
	// New returns the work of one thread, with data of that many bytes if Memory is set.
	// Call it on that thread, so that the data is allocated close to it.
	New func(bytes int) Work
}

// All returns the kernels. The most representative of servers come first, for machines that
// cannot run all of them.
func All() []Kernel {
	return []Kernel{
		{Name: "bench-node:json", Unit: "MB/s", Amount: jsonMB, Units: 16, Live: 24 << 10, Garbage: 360 << 10, New: newJSON},
		{Name: "bench-node:flate", Unit: "MB/s", Amount: flateMB, Units: 6, Live: 1200 << 10, Garbage: 4 << 10, New: newFlate},
		{Name: "bench-node:regexp", Unit: "MB/s", Amount: regexpMB, Units: 6, Live: 8 << 10, Garbage: 80 << 10, New: newRegexp},
		{Name: "bench-node:sort", Unit: "M/s", Amount: sortM, Units: 8, Live: 400 << 10, Garbage: 4 << 10, New: newSort},
		{Name: "bench-node:memory-latency", Unit: "M/s", Amount: chaseM, Units: 6, Memory: true, New: newChase},
		{Name: "bench-node:memory-bandwidth", Unit: "MB/s", Amount: triadMB, Units: 100, Memory: true, New: newTriad},
	}
}

// Spot returns the kernels of a spot check: two that need almost no memory.
func Spot() []Kernel { return All()[:2] }

// Version returns the benchmark version in samples. It includes the Go release without its patch,
// such as go1.26: most of the work is in the standard library, so scores of different releases are
// not compared. A patch fixes faults, and leaves the speed as it is.
func Version() string {
	release, _, _ := strings.Cut(runtime.Version(), " ")
	if parts := strings.SplitN(release, ".", 3); strings.HasPrefix(release, "go") && len(parts) == 3 {
		release = parts[0] + "." + parts[1]
	}
	return strconv.Itoa(set) + "-" + release
}

// errWrong means that a Work had an unexpected result: the machine or the kernel is
// broken, and the score means nothing.
var errWrong = errors.New("the result is wrong")

// random returns a source that always generates the same sequence.
func random() *rand.Rand { return rand.New(rand.NewPCG(0x5eed, 0x0f)) }

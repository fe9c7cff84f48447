package kernel

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
)

// Set numbers the kernels as they are: it goes up when what one of them does
// changes, so that scores of before and after are not compared.
const Set = 1

// Work does one unit of work. It is for one thread. An error says that the
// result is wrong.
type Work func() error

// Kernel is one benchmark.
type Kernel struct {
	// Name is what samples call it, e.g. "bench-node:json".
	Name string
	// Unit is what a score counts, e.g. "MB/s".
	Unit string
	// Amount is how much of it a unit of work is, e.g. in MB.
	Amount float64
	// Units of work make one repetition, some 25 ms of a present-day vCPU.
	Units int
	// Memory tells that it works on as much data as it is given, which has to
	// be much more than caches hold.
	Memory bool
	// New makes what one thread works on, of so many bytes if Memory is set.
	// That thread should call it, so that the data is near to it.
	New func(bytes int) Work
}

// All returns the kernels, those that say most about servers first, for a machine
// on which not all can be run.
func All() []Kernel {
	return []Kernel{
		{Name: "bench-node:json", Unit: "MB/s", Amount: jsonMB, Units: 16, New: newJSON},
		{Name: "bench-node:flate", Unit: "MB/s", Amount: flateMB, Units: 6, New: newFlate},
		{Name: "bench-node:regexp", Unit: "MB/s", Amount: regexpMB, Units: 6, New: newRegexp},
		{Name: "bench-node:sort", Unit: "M/s", Amount: sortM, Units: 8, New: newSort},
		{Name: "bench-node:sha256", Unit: "MB/s", Amount: sha256MB, Units: 12, New: newSHA256},
		{Name: "bench-node:memory-latency", Unit: "M/s", Amount: chaseM, Units: 6, Memory: true, New: newChase},
		{Name: "bench-node:memory-bandwidth", Unit: "MB/s", Amount: triadMB, Units: 100, Memory: true, New: newTriad},
	}
}

// Spot returns the kernels of a short check: two that need no memory to speak
// of.
func Spot() []Kernel { return All()[:2] }

// Version is what samples call the version: the standard library makes up most of
// the work, so scores of different Go releases are not compared.
func Version() string {
	release, _, _ := strings.Cut(runtime.Version(), " ")
	return strconv.Itoa(Set) + "-" + release
}

// errWrong is returned by a Work that did not come to what it should: the machine
// or the kernel is broken, and its score means nothing.
var errWrong = errors.New("the result is wrong")

// random is the same wherever it is made anew.
func random() *rand.Rand { return rand.New(rand.NewPCG(0x5eed, 0x0f)) }

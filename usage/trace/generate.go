package trace

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
)

// Generate writes a trace of machines with different habits over a number of days: steady ones,
// ones with days and weeks, ones with rare peaks, ones that leak memory and restart, and idle ones.
// The same seed generates the same trace.
func Generate(w io.Writer, machines, days int, seed uint64) error {
	out := bufio.NewWriter(w)
	for i := range machines {
		generate(out, i+1, days, rand.New(rand.NewPCG(seed, uint64(i))))
	}
	return out.Flush()
}

// interval is the time between the samples that Generate writes, in seconds.
const interval = 300

// began is when generated traces begin: Monday, 5 January 2026.
const began = 1767571200

func generate(out io.Writer, name, days int, random *rand.Rand) {
	cores := math.Exp2(float64(random.IntN(4)))
	kib := cores * float64(2+random.IntN(3)) * (1 << 20)
	fmt.Fprintf(out, "vm %d cores %g memory_kib %.0f mhz 2600\n", name, cores, kib)
	var (
		cpu    = cores * (0.02 + 0.2*random.Float64())
		memory = kib * (0.05 + 0.3*random.Float64())
		swing  = random.Float64()
		noise  = 0.1 + 0.4*random.Float64()
		peaks  = random.Float64() * 0.002
		leak   = random.IntN(5) == 0
		leaked = 0.0
		missed = 0
	)
	for step := range days * 24 * 3600 / interval {
		since := interval * (missed + 1)
		if step == 0 {
			since = began
		}
		if random.Float64() < 0.01 {
			missed++
			continue
		}
		missed = 0
		hour := float64(step*interval%86400) / 3600
		load := 1 + swing*math.Sin((hour-6)/24*2*math.Pi)
		if step*interval/86400%7 >= 5 {
			load *= 0.7
		}
		usedCPU, usedMemory := cpu*load*math.Exp(noise*random.NormFloat64()), memory*(0.8+0.2*load)*math.Exp(0.1*random.NormFloat64())
		if random.Float64() < peaks {
			usedCPU, usedMemory = usedCPU*4, usedMemory*(1.5+random.Float64())
		}
		if leak {
			if leaked += memory / 1000; leaked > 2*memory {
				leaked = 0
			}
			usedMemory += leaked
		}
		fmt.Fprintf(out, "%d,%.4f,%.0f\n", since, min(usedCPU, cores), min(usedMemory, kib))
	}
}

package trend

import "math"

// Amounts are means over some time.
type Amounts struct {
	// Pods is the number of pods.
	Pods float64
	// Authored is what the pods would request as their authors wrote them. Saved is how much less they request; negative if it is more.
	// Unmeasured is the part of what they request of pods whose usage is not known, and Used is what the others use.
	Authored, Saved, Unmeasured, Used Resources
	// AuthoredCost and SavedCost are what these cost an hour; 0 without prices.
	AuthoredCost, SavedCost float64
	// Priced is for which share of the time pods existed and prices were known, and Unpriced for which share pods existed and prices
	// were not. Both are 0 in what earlier versions stored.
	Priced, Unpriced float64
	// Nodes is the number of nodes, and Allocatable what they have for pods. Only a cluster has nodes.
	Nodes       float64
	Allocatable Resources
}

// Requested is what the pods request.
func (a *Amounts) Requested() Resources { return a.Authored.less(a.Saved) }

// Measured is the part of what the pods request of those whose usage is known.
func (a *Amounts) Measured() Resources { return a.Authored.less(a.Saved).less(a.Unmeasured) }

// Resources are amounts of CPU in millicores, and of memory in bytes.
type Resources struct{ CPU, Memory float64 }

// less returns the difference; 0 rather than less, which amounts that are rounded may give.
func (r Resources) less(o Resources) Resources {
	return Resources{max(r.CPU-o.CPU, 0), max(r.Memory-o.Memory, 0)}
}

// HadPrices returns for which share of the time with pods prices were known; 1 without pods.
func (a *Amounts) HadPrices() float64 {
	if a.Unpriced == 0 {
		return 1
	}
	return a.Priced / (a.Priced + a.Unpriced)
}

// supposePrices fills in what earlier versions did not store: what cost something had prices, and what cost nothing although something
// was requested had none.
func (a *Amounts) supposePrices() {
	switch {
	case a.Priced != 0 || a.Unpriced != 0:
	case a.AuthoredCost != 0 || a.SavedCost != 0:
		a.Priced = 1
	case a.Authored != Resources{} || a.Saved != Resources{}:
		a.Unpriced = 1
	}
}

// The fields of Amounts, in the order in which they are stored, those that change most often first. Their numbers must never change.
const (
	fields = 16
	// octave is how many codes there are from an amount to the double: an amount is stored with an error of 0.27% at most, and a
	// difference of less than 40% takes one byte.
	octave = 128
)

// units has the smallest amount of each field that is stored: less than about half of it is none.
var units = [fields]float64{
	1, 1 << 10, // used: millicores and bytes
	0.01,       // pods
	1, 1 << 10, // authored
	1, 1 << 10, // saved
	1e-6, 1e-6, // costs
	1, 1 << 10, // unmeasured
	0.01,       // nodes
	1, 1 << 10, // allocatable
	share, share, // priced and unpriced
}

// share is a unit in which 1 is stored without an error.
const share = 1.0 / (1<<13 - 1)

// all returns the fields.
func (a *Amounts) all() [fields]*float64 {
	return [fields]*float64{
		&a.Used.CPU, &a.Used.Memory, &a.Pods, &a.Authored.CPU, &a.Authored.Memory, &a.Saved.CPU, &a.Saved.Memory,
		&a.AuthoredCost, &a.SavedCost, &a.Unmeasured.CPU, &a.Unmeasured.Memory, &a.Nodes, &a.Allocatable.CPU, &a.Allocatable.Memory, &a.Priced, &a.Unpriced,
	}
}

// Add adds other amounts, weighted.
func (a *Amounts) Add(o *Amounts, weight float64) {
	to, from := a.all(), o.all()
	for i := range to {
		*to[i] += weight * *from[i]
	}
}

// Scale multiplies the amounts by a factor.
func (a *Amounts) Scale(factor float64) {
	for _, of := range a.all() {
		*of *= factor
	}
}

// codes are amounts as they are stored: logarithms, with the sign of the amount.
type codes [fields]int16

// codesOf returns the codes of amounts.
func codesOf(a *Amounts) (c codes) {
	for i, of := range a.all() {
		code := math.Min(math.Round(octave*math.Log2(1+math.Abs(*of)/units[i])), math.MaxInt16)
		c[i] = int16(math.Copysign(code, *of))
	}
	return c
}

// amounts returns the amounts of codes.
func (c *codes) amounts() (a Amounts) {
	for i, of := range a.all() {
		code := float64(c[i])
		*of = math.Copysign(units[i]*(math.Exp2(math.Abs(code)/octave)-1), code)
	}
	return a
}

// Codes returns the amounts as they are stored.
func (a *Amounts) Codes() []int32 {
	c := codesOf(a)
	all := make([]int32, fields)
	for i := range c {
		all[i] = int32(c[i])
	}
	return all
}

// FromCodes returns the amounts of codes, of which there may be fewer or more than this version knows.
func FromCodes(all []int32) Amounts {
	var c codes
	for i := range min(len(all), fields) {
		c[i] = int16(min(max(all[i], -math.MaxInt16), math.MaxInt16))
	}
	return c.amounts()
}

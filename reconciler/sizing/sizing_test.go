package sizing

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	mi = 1 << 20
	gi = 1 << 30
)

var open = Range{}

func TestCPU(t *testing.T) {
	for _, tc := range []struct {
		name     string
		original Amount
		f        Factor
		bounds   Range
		want     Amount
		clamped  bool
	}{
		{"keeps Guaranteed", Amount{1000, 1000}, Factor{4, 5}, open, Amount{800, 800}, false},
		{"keeps request:limit of Burstable", Amount{500, 2000}, Factor{4, 5}, open, Amount{400, 1600}, false},
		{"adds no limit", Amount{500, 0}, Factor{4, 5}, open, Amount{400, 0}, false},
		{"scales nothing without a request", Amount{0, 500}, Factor{4, 5}, open, Amount{0, 500}, false},
		{"changes nothing at factor 1", Amount{333, 777}, Factor{3, 3}, open, Amount{333, 777}, false},
		{"rounds to the nearest millicore, down", Amount{1000, 0}, Factor{10, 13}, open, Amount{769, 0}, false},
		{"rounds to the nearest millicore, halves up", Amount{1, 0}, Factor{3, 2}, open, Amount{2, 0}, false},
		{"keeps at least one millicore, and the limit at least at the request", Amount{1, 5}, Factor{1, 100}, open, Amount{1, 2}, false},
		{"scales the limit by the factor alone if the request is raised to min", Amount{100, 400}, Factor{1, 4}, Range{50, 16000}, Amount{50, 100}, true},
		{"never raises a limit by a min", Amount{10, 2000}, Factor{1, 1}, Range{50, 16000}, Amount{50, 2000}, true},
		{"never raises a limit that is far from its request", Amount{1, 4000}, Factor{1, 1}, Range{50, 16000}, Amount{50, 4000}, true},
		{"raises a limit that would otherwise meet its request", Amount{10, 20}, Factor{1, 1}, Range{50, 16000}, Amount{50, 51}, true},
		{"raises a limit equal to its request to min", Amount{10, 10}, Factor{1, 1}, Range{50, 16000}, Amount{50, 50}, true},
		{"keeps the original limit:request at a max", Amount{14000, 28000}, Factor{13, 10}, Range{50, 16000}, Amount{16000, 32000}, true},
		{"does not raise the limit when it rounds up the request", Amount{1, 2000}, Factor{100, 66}, open, Amount{2, 3030}, false},
		{"lowers the limit when it rounds down the request", Amount{1000, 1300}, Factor{10, 13}, open, Amount{769, 999}, false},
		{"scales the limit of a request that a bound keeps unchanged", Amount{50, 200}, Factor{4, 5}, Range{50, 0}, Amount{50, 160}, true},
		{"lowers to max", Amount{20000, 20000}, Factor{1, 1}, Range{50, 16000}, Amount{16000, 16000}, true},
		{"applies bounds at factor 1", Amount{20, 40}, Factor{1, 1}, Range{50, 16000}, Amount{50, 51}, true},
		{"does not exceed the largest amount", Amount{1e12, 1e12}, Factor{5, 4}, open, Amount{1e12, 1e12}, false},
		{"does not exceed the largest amount with a limit far from its request", Amount{1, 1e12}, Factor{5, 4}, Range{50, 0}, Amount{50, 1e12}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, clamped := scaleCPU(tc.original, tc.f, tc.bounds)
			if got != tc.want || clamped != tc.clamped {
				t.Errorf("CPU(%v, %v, %v) = %v, %v; want %v, %v", tc.original, tc.f, tc.bounds, got, clamped, tc.want, tc.clamped)
			}
		})
	}
}

func TestMemory(t *testing.T) {
	for _, tc := range []struct {
		name     string
		original Amount
		f        Factor
		bounds   Range
		want     Amount
		clamped  bool
	}{
		{"changes nothing at factor 1, whole Mi or not", Amount{1000, 1001}, Factor{2, 2}, open, Amount{1000, 1001}, false},
		{"rounds up to a whole Mi", Amount{gi, gi}, Factor{10, 11}, open, Amount{931 * mi, 931 * mi}, false},
		{"rounds up one byte to a whole Mi", Amount{1331*mi + 209716, 0}, Factor{10, 13}, open, Amount{1025 * mi, 0}, false},
		{"does not round up an exact result", Amount{1300 * mi, 0}, Factor{10, 13}, open, Amount{1000 * mi, 0}, false},
		{"keeps at least one Mi, and a limit above its request", Amount{1000, 2000}, Factor{1, 2}, open, Amount{mi, 2 * mi}, false},
		{"keeps limit:request", Amount{gi, 2 * gi}, Factor{1, 2}, open, Amount{gi / 2, gi}, false},
		{"applies bounds at factor 1", Amount{32 * mi, 64 * mi}, Factor{1, 1}, Range{64 * mi, 0}, Amount{64 * mi, 65 * mi}, true},
		{"never raises a limit by a min", Amount{mi, 2 * gi}, Factor{1, 1}, Range{64 * mi, 0}, Amount{64 * mi, 2 * gi}, true},
		{"keeps a limit above a min that is not a whole Mi", Amount{mi, 2 * mi}, Factor{1, 1}, Range{100_000_000, 0}, Amount{100_000_000, 100_000_000 + mi}, true},
		{"keeps the original limit:request at a max", Amount{10 * gi, 20 * gi}, Factor{5, 4}, Range{0, 8 * gi}, Amount{8 * gi, 16 * gi}, true},
		{"scales a limit less than one Mi above its request to one Mi above", Amount{64 * mi, 64*mi + 1}, Factor{7, 8}, open, Amount{56 * mi, 57 * mi}, false},
		{"scales nothing without a request", Amount{0, gi}, Factor{1, 2}, open, Amount{0, gi}, false},
		{"does not exceed the largest amount", Amount{1 << 60, 0}, Factor{5, 4}, open, Amount{1 << 60, 0}, false},
		{"does not exceed the largest amount with a limit far from its request", Amount{1, 1 << 60}, Factor{5, 4}, Range{64 * mi, 0}, Amount{64 * mi, 1 << 60}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, clamped := scaleMemory(tc.original, tc.f, tc.bounds)
			if got != tc.want || clamped != tc.clamped {
				t.Errorf("Memory(%v, %v, %v) = %v, %v; want %v, %v", tc.original, tc.f, tc.bounds, got, clamped, tc.want, tc.clamped)
			}
		})
	}
}

// oracle multiplies exactly and rounds half up (nearest) or up.
func oracle(v int64, f Factor, up bool) int64 {
	x := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(v), new(big.Int).SetUint64(f.Num)), new(big.Int).SetUint64(f.Den))
	if !up {
		x.Add(x, big.NewRat(1, 2))
	}
	q, m := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	if up && m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() {
		return math.MaxInt64
	}
	return q.Int64()
}

func TestSizing(t *testing.T) {
	t.Run("multiplies exactly by a factor", multipliesExactlyByAFactor)
	t.Run("rejects quantities that no machine has", rejectsQuantitiesThatNoMachineHas)
	t.Run("reads millicores and bytes from resources", readsMillicoresAndBytesFromResources)
}

func multipliesExactlyByAFactor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	number := func() uint64 { return r.Uint64()>>1>>r.UintN(63) | 1 }
	for range 200_000 {
		v, f := int64(number()), Factor{number(), number()}
		if got, want := f.nearest(v), oracle(v, f, false); got != want {
			t.Fatalf("%v.nearest(%d) = %d, want %d", f, v, got, want)
		}
		if got, want := f.Up(v), oracle(v, f, true); got != want {
			t.Fatalf("%v.Up(%d) = %d, want %d", f, v, got, want)
		}
	}
}

func TestQOSClass(t *testing.T) {
	full := Container{Amount{100, 100}, Amount{mi, mi}}
	for _, tc := range []struct {
		name string
		pod  []Container
		want corev1.PodQOSClass
	}{
		{"nothing is set", []Container{{}, {}}, corev1.PodQOSBestEffort},
		{"all limits equal their requests", []Container{full, full}, corev1.PodQOSGuaranteed},
		{"one container sets nothing", []Container{full, {}}, corev1.PodQOSBurstable},
		{"only cpu", []Container{{CPU: Amount{100, 100}}}, corev1.PodQOSBurstable},
		{"a request below its limit", []Container{{Amount{100, 200}, Amount{mi, mi}}}, corev1.PodQOSBurstable},
		{"only a limit", []Container{{CPU: Amount{0, 200}}}, corev1.PodQOSBurstable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := QOSClass(tc.pod); got != tc.want {
				t.Errorf("QOSClass(%v) = %s, want %s", tc.pod, got, tc.want)
			}
		})
	}
}

func rejectsQuantitiesThatNoMachineHas(t *testing.T) {
	// A quantity with more digits than fit in 64 bits is stored as a decimal.
	const digits = ".0000000000000000000000"
	for text, want := range map[string]bool{"0" + digits: true, "1000000000" + digits: true, "1000000000" + digits + "1": false, "0": true, "1m": true, "64": true, "1G": true, "1000000001": false, "10E": false, "1e40": false, "-1": false, "18446744073709552": false} {
		q := resource.MustParse(text)
		if amount, ok := Millicores(&q); ok != want || amount < 0 || amount > 1e12 {
			t.Errorf("Millicores(%s) = %d, %v, want %v", text, amount, ok, want)
		}
	}
	for text, want := range map[string]bool{"0" + digits: true, "1152921504606846976" + digits: true, "2E": false, "0": true, "1": true, "1Ei": true, "1025Pi": false, "1e30": false, "-1": false} {
		q := resource.MustParse(text)
		if amount, ok := Bytes(&q); ok != want || amount < 0 || amount > 1<<60 {
			t.Errorf("Bytes(%s) = %d, %v, want %v", text, amount, ok, want)
		}
	}
}

func readsMillicoresAndBytesFromResources(t *testing.T) {
	got := FromResources(corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1.5"), corev1.ResourceMemory: resource.MustParse("1Gi"), "nvidia.com/gpu": resource.MustParse("1")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
	})
	if want := (Container{CPU: Amount{1500, 2000}, Memory: Amount{gi, 0}}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if cpu, memory := CPUText(800), MemoryText(gi); cpu != "800m" || memory != "1Gi" {
		t.Errorf("formatted as %s and %s, want 800m and 1Gi", cpu, memory)
	}
}

package sizing

import (
	"math/big"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func FuzzScale(f *testing.F) {
	const most = 1 << 62
	f.Add(int64(1000), int64(2000), uint64(4), uint64(5), int64(50), int64(16000), int64(1))
	f.Add(int64(1<<30), int64(1<<31), uint64(10), uint64(13), int64(64<<20), int64(32<<30), int64(mebibyte))
	f.Add(int64(1), int64(1e12), uint64(1), uint64(1), int64(50), int64(0), int64(1))      // A limit far from its request.
	f.Add(int64(1), int64(1<<36), uint64(1), uint64(1), int64(64<<20), int64(0), int64(1)) // Memory whose unit was forgotten.
	f.Add(int64(most), int64(most), uint64(most), uint64(1), int64(0), int64(0), int64(most))
	f.Add(int64(1), int64(1), uint64(1), uint64(most), int64(most), int64(most), int64(1))
	f.Fuzz(func(t *testing.T, request, limit int64, num, den uint64, low, high, more int64) {
		for _, number := range [...]*int64{&request, &limit, &low, &high, &more} {
			*number = max(0, *number)
		}
		factor := Factor{max(1, num>>1), max(1, den>>1)}
		bounds := Range{low, high}
		if high > 0 && low > high {
			bounds = Range{high, low}
		}
		for _, k := range kinds {
			in := input{Amount{request, limit}, factor, bounds, more >> 10}
			in.f.Num >>= 1 // Leaves room to add more.
			in.f.Num = max(1, in.f.Num)
			if limit > 0 && limit < request {
				in.original = Amount{limit, request}
			}
			if max(in.original.Request, in.original.Limit, low, high) <= k.most {
				check(t, k, in)
				checkUnscaling(t, k, in.original, in.f)
				continue
			}
			// Amounts beyond the largest quantity do not overflow either.
			got, _ := k.scale(in.original, in.f, in.bounds)
			if got.Request < 0 || got.Limit < 0 || in.original.Request > 0 && (got.Request < bounds.Min || bounds.Max > 0 && got.Request > bounds.Max) {
				t.Errorf("%s %v × %v in %v is %v", k.name, in.original, in.f, in.bounds, got)
			}
		}
	})
}

// quantities are seeds: unusual quantities, and texts that are nearly quantities.
var quantities = []string{
	"", "0", "-0", "+5", " 5", "5 ", "1", "500m", "1Gi", "1Mi5", "0.5", ".5", "5.", ".", "1.0000000001", "0.0000000001",
	"1n", "1u", "100m", "1m", "0m", "-1m", "1k", "1K", "1Ki", "1M", "1Ti", "1Pi", "1Ei", "1025Pi", "1E", "1e", "1e3", "1E3", "1e+3", "1e-3", "1e-30",
	"0x10", "1_000", "1,5", "٣", "½", "1µ", "NaN", "Inf", "--1", "+-1", "1mm", "1im", "1iM", "\x00", "1\x00",
	"000000000001", "0000000000001", "999999999999", "1000000000000", "999999999999m", "1000000000", "1000000001", "1000000000001m",
	"123456789012345678901234567890", "123456789012345678901234567890m", "0.000000000000000000000000000001", "9223372036854775807", "9223372036854775808", "18446744073709551616",
	"1152921504606846976", "1152921504606846977", "1073741824Gi", "1073741825Gi", "999999999999Gi", "9999999999999m", "1e40", "1e99", "1e-99", "1e007",
	"1e4294967296",                 // An exponent that ParseQuantity reads as 0.
	"1e99999999", "0.1e-999999999", // ParseQuantity needs minutes and gigabytes for these.
}

func FuzzParseCPU(f *testing.F) {
	fuzzParse(f, ParseCPU, 1000, mostCores)
}

func FuzzParseMemory(f *testing.F) {
	fuzzParse(f, ParseMemory, 1, mostBytes)
}

// fuzzParse compares parse with ParseQuantity: the quantity in parts, of which the
// quantity 1 has perUnit, rounded up, from 0 to most.
func fuzzParse(f *testing.F, parse func(string) (int64, error), perUnit, most int64) {
	for _, text := range quantities {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parse(text)
		want, ok := int64(0), false
		if Plausible(text) {
			want, ok = exactQuantity(text, perUnit, most)
		}
		if ok != (err == nil) || got != want {
			t.Errorf("%q is %d, %v; want %d, %v", text, got, err, want, ok)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}

func exactQuantity(text string, perUnit, most int64) (int64, bool) {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0, false
	}
	d := q.AsDec()
	exact, ok := new(big.Rat).SetString(d.String())
	if !ok || exact.Sign() < 0 || exact.Cmp(integer(most)) > 0 {
		return 0, false
	}
	parts := exact.Mul(exact, integer(perUnit))
	whole, rest := new(big.Int).DivMod(parts.Num(), parts.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole.Int64(), true
}

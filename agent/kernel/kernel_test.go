package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
)

func small(k Kernel) Work {
	return k.New(1 << 20)
}

func TestKernel(t *testing.T) {
	t.Run("every kernel comes to the same again and again", everyKernelComesToTheSameAgainAndAgain)
	t.Run("the data is that of this set", theDataIsThatOfThisSet)
	t.Run("the matches of the text are counted right", theMatchesOfTheTextAreCountedRight)
	t.Run("the version names the set and the go release", theVersionNamesTheSetAndTheGoRelease)
}

func everyKernelComesToTheSameAgainAndAgain(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			work := small(k)
			for i := range 20 { // More than once around the memory of the memory kernels.
				if err := work(); err != nil {
					t.Fatalf("unit %d: %v", i, err)
				}
			}
		})
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, k := range All() {
		b.Run(k.Name, func(b *testing.B) {
			bytes := 1 << 20
			if k.Memory {
				bytes = 128 << 20
			}
			work := k.New(bytes)
			for b.Loop() {
				if err := work(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(k.Amount*float64(b.N)/b.Elapsed().Seconds(), k.Unit)
		})
	}
}

// The data must not change unnoticed: scores would.
func theDataIsThatOfThisSet(t *testing.T) {
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"text":   {logText(), "825eea23"},
		"orders": {orders(), "49433cf4"},
	} {
		if sum := sha256.Sum256(tc.data); hex.EncodeToString(sum[:4]) != tc.want {
			t.Errorf("the %s are %x: if that is meant, count Set up", name, sum[:4])
		}
	}
}

func theMatchesOfTheTextAreCountedRight(t *testing.T) {
	// Field by field, without an expression.
	count := 0
	for l := range strings.Lines(string(logText())) {
		f := strings.Fields(l)
		if len(f) == 10 && (f[7] == "400" || f[7] == "500") && f[9] >= "0.5" && f[9] < "1" && strings.HasSuffix(l, "\n") {
			count++
		}
	}
	if count != slowErrorsInText || count == 0 {
		t.Errorf("%d matches, not %d", count, slowErrorsInText)
	}
}

func theVersionNamesTheSetAndTheGoRelease(t *testing.T) {
	if v := Version(); !regexp.MustCompile(`^1-go1\.\d+\S*$|^1-devel\S*$`).MatchString(v) {
		t.Errorf("version %q", v)
	}
}

package print

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestNumber(t *testing.T) {
	for amount, want := range map[string]float64{"1500m": 0.75, "3Gi": 3 << 29, "-2": -1, "0": 0, "": 0, "much": 0} {
		if got := Number(amount, 2); got != want {
			t.Errorf("half of %q is %v, want %v", amount, got, want)
		}
	}
}

// To compute with such an amount would take hours. A server may be hostile, or broken.
func TestAmountsOfHostileServers(t *testing.T) {
	const hostile = "1e-2147483647"
	if n := Number(hostile, 1); n != 0 {
		t.Errorf("its number is %v", n)
	}
	if text := Percent(hostile, "1") + Percent("1", hostile); text != Absent+Absent {
		t.Errorf("as percentages, it is %q", text)
	}
	if text := CPU.Amount(hostile) + Memory.Amount(hostile) + Demand("memory", hostile); text != hostile+hostile+hostile {
		t.Errorf("people read %q", text)
	}
	if style := max(ChangeStyle(hostile, "1"), ChangeStyle("1", hostile)); style != Plain || Unbounded("cpu", hostile) {
		t.Errorf("a change has the style %v, or there is no bound", style)
	}
	if key := orderable(hostile); key != hostile {
		t.Errorf("it is sorted as %v", key)
	}
}

func TestAmountsForPeople(t *testing.T) {
	for _, tc := range []struct{ cpu, cores, memory, bytes string }{
		{"0", "0", "0", "0"},
		{"1m", "1m", "1", "1"},
		{"1500m", "1500m", "1023Ki", "1023Ki"},
		{"3", "3", "1572864", "2Mi"},
		{"9999m", "9999m", "943718401", "900Mi"},
		{"10", "10", "10239Mi", "10239Mi"},
		{"12345m", "12.3", "10Gi", "10Gi"},
		{"999900m", "999.9", "12345Mi", "12.1Gi"},
		{"1234567m", "1234", "1234567Mi", "1205Gi"},
		{"-1500m", "-1500m", "-900Mi", "-900Mi"},
		{"-12345m", "-12.3", "-12345Mi", "-12.1Gi"},
	} {
		if got := CPU.Text(resource.MustParse(tc.cpu)); got != tc.cores {
			t.Errorf("cpu %s is %s, want %s", tc.cpu, got, tc.cores)
		}
		if got := Memory.Text(resource.MustParse(tc.memory)); got != tc.bytes {
			t.Errorf("memory %s is %s, want %s", tc.memory, got, tc.bytes)
		}
	}
}

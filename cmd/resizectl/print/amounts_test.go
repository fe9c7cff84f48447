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

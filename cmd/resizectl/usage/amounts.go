package usage

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// amounts are exact amounts of both resources. The zero value is none of either.
type amounts struct{ cpu, memory resource.Quantity }

// amountsOf parses amounts of the API. Absent amounts are 0.
func amountsOf(a *workloadresizerv1.ResourceAmounts) (amounts, error) {
	cpu, err := quantityOf(a.GetCpu(), resource.DecimalSI)
	if err != nil {
		return amounts{}, fmt.Errorf("cpu: %w", err)
	}
	memory, err := quantityOf(a.GetMemory(), resource.BinarySI)
	if err != nil {
		return amounts{}, fmt.Errorf("memory: %w", err)
	}
	return amounts{cpu, memory}, nil
}

func quantityOf(text string, format resource.Format) (resource.Quantity, error) {
	if text == "" {
		return resource.Quantity{Format: format}, nil
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return q, fmt.Errorf("the server's amount %q is not a quantity", text)
	}
	// A sum has the format of its first part.
	q.Format = format
	return q, nil
}

func (a *amounts) add(b amounts) {
	a.cpu.Add(b.cpu)
	a.memory.Add(b.memory)
}

// less returns a without b.
func (a amounts) less(b amounts) amounts {
	difference := amounts{a.cpu.DeepCopy(), a.memory.DeepCopy()}
	difference.cpu.Sub(b.cpu)
	difference.memory.Sub(b.memory)
	return difference
}

// fields are amounts in documents.
type fields struct {
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
}

func (a amounts) fields() *fields {
	return &fields{a.cpu.String(), a.memory.String()}
}

func (a amounts) inAPI() *workloadresizerv1.ResourceAmounts {
	return &workloadresizerv1.ResourceAmounts{Cpu: a.cpu.String(), Memory: a.memory.String()}
}

// cores returns an amount of CPU for people, e.g. "1500m" or "12.3".
func cores(q resource.Quantity) string {
	millis := q.MilliValue()
	switch size := max(millis, -millis); {
	case size < 10_000:
		return resource.NewMilliQuantity(millis, resource.DecimalSI).String()
	case size < 1_000_000:
		return tenths(float64(millis) / 1000)
	}
	return strconv.FormatInt(millis/1000, 10)
}

// bytes returns an amount of memory for people, in Mi or larger units unless it is tiny, e.g. "345Mi"
// or "12.3Gi".
func bytes(q resource.Quantity) string {
	const mi, gi = 1 << 20, 1 << 30
	n := q.Value()
	switch size := max(n, -n); {
	case size < mi:
		return resource.NewQuantity(n, resource.BinarySI).String()
	case size < 10*gi:
		rounded := (size + mi/2) / mi * mi
		if n < 0 {
			rounded = -rounded
		}
		return resource.NewQuantity(rounded, resource.BinarySI).String()
	case size < 1000*gi:
		return tenths(float64(n)/gi) + "Gi"
	}
	return strconv.FormatInt(n/gi, 10) + "Gi"
}

// tenths returns a number with one digit after the point, unless that is 0.
func tenths(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

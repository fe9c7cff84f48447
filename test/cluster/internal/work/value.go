package work

import (
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is a number of cores or bytes, written as a quantity such as 250m or 64Mi.
type Amount float64

// UnmarshalJSON reads a quantity.
func (a *Amount) UnmarshalJSON(text []byte) error {
	var quantity resource.Quantity
	if err := json.Unmarshal(text, &quantity); err != nil {
		return fmt.Errorf("%s is not a quantity such as 250m or 64Mi", text)
	}
	if quantity.Sign() < 0 {
		return fmt.Errorf("%s is negative", text)
	}
	*a = Amount(quantity.AsApproximateFloat64())
	return nil
}

// unit is what an amount is of. The range of its amounts excludes typos such as 64m of memory.
type unit struct {
	name     string
	min, max Amount
}

var (
	cores = unit{"cores", 0, 1 << 20}
	bytes = unit{"bytes", 1, 1 << 50}
)

// check returns an error unless the amount is zero or in the range.
func (u unit) check(amount Amount) error {
	if amount != 0 && (amount < u.min || amount > u.max) {
		return fmt.Errorf("%g %s is not between %g and %g", float64(amount), u.name, float64(u.min), float64(u.max))
	}
	return nil
}

// Duration is a time span such as 90s or 24h. It is never negative.
type Duration time.Duration

// UnmarshalJSON reads a duration.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var written string
	if err := json.Unmarshal(text, &written); err != nil {
		return fmt.Errorf("%s is not a duration such as 90s or 24h", text)
	}
	parsed, err := time.ParseDuration(written)
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is not a duration such as 90s or 24h", written)
	}
	*d = Duration(parsed)
	return nil
}

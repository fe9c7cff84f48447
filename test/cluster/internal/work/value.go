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

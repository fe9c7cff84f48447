package work

import (
	"encoding/json"
	"fmt"
	"time"
)

const day = Duration(24 * time.Hour)

// Weekday is a day of the week, written as Mon, Tue, ….
type Weekday time.Weekday

// UnmarshalJSON reads the first three letters of a day.
func (w *Weekday) UnmarshalJSON(text []byte) error {
	var written string
	if err := json.Unmarshal(text, &written); err != nil {
		return fmt.Errorf("%s is not a day such as Mon", text)
	}
	for candidate := time.Sunday; candidate <= time.Saturday; candidate++ {
		if candidate.String()[:3] == written {
			*w = Weekday(candidate)
			return nil
		}
	}
	return fmt.Errorf("%q is not a day such as Mon", written)
}

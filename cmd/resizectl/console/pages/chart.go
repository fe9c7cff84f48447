package pages

import (
	"encoding/json"
	"strconv"
)

// chart is a chart that the browser draws from Data. Says is what it shows, for those who do not see it.
type chart struct{ Title, Data, Says string }

// chartData is what assets/chart.js reads.
type chartData struct {
	// Along is the unit along the chart; empty for times, in seconds since 1970.
	Along string `json:"along,omitempty"`
	// Hours means that the times are hours, and not days.
	Hours bool `json:"hours,omitempty"`
	// Unit is the unit of the amounts.
	Unit string `json:"unit"`
	// At is where the amounts are.
	At    []float64   `json:"at"`
	Lines []chartLine `json:"lines"`
}

// chartLine is a line of a chart. Where nothing is known, an amount is nil.
type chartLine struct {
	Name    string     `json:"name"`
	Dashed  bool       `json:"dashed,omitempty"`
	Amounts []*float64 `json:"amounts"`
}

// short writes an amount with three digits, and without an exponent.
func short(amount float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(amount, 'g', 3, 64), 64)
	if err != nil {
		rounded = amount
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// chartOf returns a chart; none if it has an amount that is no number.
func chartOf(title, says string, data *chartData) []chart {
	text, err := json.Marshal(data)
	if err != nil {
		return nil
	}
	return []chart{{title, string(text), says}}
}

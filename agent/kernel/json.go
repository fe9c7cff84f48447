package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

const (
	jsonBytes = 64 << 10
	// jsonMB is nominal: the document is a few bytes larger.
	jsonMB = jsonBytes / 1e6
)

// order is an element of the document, typical of the data that services exchange.
type order struct {
	ID       int64             `json:"id"`
	Customer string            `json:"customer"`
	Items    []item            `json:"items"`
	Labels   map[string]string `json:"labels"`
	Paid     bool              `json:"paid"`
}

type item struct {
	Article string  `json:"article"`
	Count   int     `json:"count"`
	Price   float64 `json:"price"`
}

// newJSON decodes and encodes a document, as services do with requests.
func newJSON(int) Work {
	document := sharedOrders()
	return func() error {
		var decoded []order
		if err := json.Unmarshal(document, &decoded); err != nil {
			return err
		}
		encoded, err := json.Marshal(decoded)
		if err != nil {
			return err
		}
		if !bytes.Equal(encoded, document) {
			return errWrong
		}
		return nil
	}
}

// sharedOrders returns the document, which all threads read. A copy for each of 200 threads would
// need more memory than an agent should have.
var sharedOrders = sync.OnceValue(orders)

func orders() []byte {
	r := random()
	var all []order
	for {
		o := order{
			ID: r.Int64N(1 << 40), Customer: fmt.Sprintf("customer-%d", r.IntN(10_000)), Paid: r.IntN(2) == 0,
			Labels: map[string]string{"region": fmt.Sprint("r", r.IntN(9)), "channel": "web", "note": fmt.Sprintf("left <%d> at the door", r.IntN(100))},
		}
		for range 1 + r.IntN(6) {
			o.Items = append(o.Items, item{fmt.Sprintf("article-%05d", r.IntN(100_000)), 1 + r.IntN(9), float64(r.IntN(100_000)) / 100})
		}
		all = append(all, o)
		if len(all)%16 != 0 {
			continue
		}
		document, err := json.Marshal(all)
		if err != nil {
			panic("encode orders as JSON: " + err.Error())
		}
		if len(document) >= jsonBytes {
			return document
		}
	}
}

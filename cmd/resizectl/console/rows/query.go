package rows

import (
	"net/url"
	"strconv"
	"strings"
)

// Query selects rows, and their order. The zero query selects all rows by name.
type Query struct {
	// Namespace, Decision and Reason are empty for all.
	Namespace, Decision, Reason string
	// Only means that no other namespace is read, for people who may not see them.
	Only bool
	// Text is a part of the namespace, the type or the name, in any case.
	Text string
	// Order is a word of the API, and Descending reverses it.
	Order      string
	Descending bool
	// From is how many rows come before the window.
	From int
}

// Names of the parameters of a query in an address.
const (
	namespaceKey = "namespace"
	decisionKey  = "decision"
	reasonKey    = "reason"
	textKey      = "q"
	orderKey     = "order"
	onlyKey      = "only"
)

// FromKey is the parameter of an address that says how many rows come before the window.
const FromKey = "from"

// descending follows an order that begins with the largest, as in the API.
const descending = " desc"

// Parse returns the query in the parameters of an address. It ignores what it cannot read: an address may be of another version.
func Parse(values url.Values) Query {
	order, reversed := strings.CutSuffix(values.Get(orderKey), descending)
	if _, ok := amounts[order]; !ok && order != byName {
		order, reversed = byName, false
	}
	return Query{
		Namespace: values.Get(namespaceKey), Decision: values.Get(decisionKey), Reason: values.Get(reasonKey),
		Text: values.Get(textKey), Order: order, Descending: reversed, From: From(values), Only: values.Get(onlyKey) != "" && values.Get(namespaceKey) != "",
	}
}

// From returns how many rows come before the window that the parameters of an address name, of any table.
func From(values url.Values) int {
	from, err := strconv.Atoi(values.Get(FromKey))
	if err != nil {
		return 0
	}
	return max(0, from)
}

// Values returns the parameters of the query in an address, without those that say nothing.
func (q Query) Values() url.Values {
	values := url.Values{}
	order := q.Order
	if order == byName {
		order = ""
	}
	if q.Descending {
		order = q.Order + descending
	}
	from := ""
	if q.From > 0 {
		from = strconv.Itoa(q.From)
	}
	only := ""
	if q.Only {
		only = "1"
	}
	for key, value := range map[string]string{
		namespaceKey: q.Namespace, decisionKey: q.Decision, reasonKey: q.Reason, textKey: q.Text, orderKey: order, FromKey: from, onlyKey: only,
	} {
		if value != "" {
			values.Set(key, value)
		}
	}
	return values
}

// Filtered reports whether the query selects only some rows.
func (q Query) Filtered() bool {
	return q.Namespace != "" || q.Decision != "" || q.Reason != "" || q.Text != ""
}

// By returns the query in an order, from the first row. In the order that it has already, it is reversed. Amounts begin with the
// largest, which are those that people look for.
func (q Query) By(order string) Query {
	reversed := order != byName
	if q.Order == order {
		reversed = !q.Descending
	}
	q.Order, q.Descending, q.From = order, reversed, 0
	return q
}

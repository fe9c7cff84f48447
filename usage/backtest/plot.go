package backtest

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// The size of a plot, and of its margins, in pixels.
const (
	plotWidth, plotHeight = 720, 480
	plotMargin            = 64
)

// Plot writes an SVG image that shows the cost of each row, as requested memory, against its harm,
// as days with a kill. The best policies are at the bottom left.
func Plot(w io.Writer, rows []Row) error {
	mostGiB, mostDays := 1.0, 0.01
	for _, r := range rows {
		mostGiB, mostDays = max(mostGiB, r.GiB), max(mostDays, r.OOMDays)
	}
	mostGiB, mostDays = round(mostGiB*1.15), round(mostDays*1.1)
	x := func(gib float64) float64 { return plotMargin + gib/mostGiB*(plotWidth-2*plotMargin) }
	y := func(days float64) float64 { return plotHeight - plotMargin - days/mostDays*(plotHeight-2*plotMargin) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	for i := range 6 {
		gib, days := mostGiB*float64(i)/5, mostDays*float64(i)/5
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", x(gib), y(0), x(gib), y(mostDays))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%.4g</text>`+"\n", x(gib), y(0)+18, gib)
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", x(0), y(days), x(mostGiB), y(days))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="end">%.3g%%</text>`+"\n", x(0)-6, y(days)+4, days*100)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">requested memory in GiB</text>`+"\n", plotWidth/2, plotHeight-16)
	fmt.Fprintf(&b, `<text x="16" y="%d" text-anchor="middle" transform="rotate(-90 16 %d)">machine-days with an OOM kill</text>`+"\n", plotHeight/2, plotHeight/2)
	for _, r := range rows {
		name := r.Policy
		if r.Speed != 1 {
			name = fmt.Sprintf("%s, speed %g", name, r.Speed)
		}
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="5" fill="#1a73e8"/>`+"\n", x(r.GiB), y(r.OOMDays))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`+"\n", x(r.GiB)+8, y(r.OOMDays)-6, html.EscapeString(name))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// round returns the next number with one significant digit of halves, for the end of an axis.
func round(most float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(most))) / 2
	return math.Ceil(most/step) * step
}

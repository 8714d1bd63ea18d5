#include "lockstep/lab/report/page_style.hpp"

namespace lockstep::report {

// The colours of tones were chosen so that each stands at least 4.5 to 1 against its background in light and in dark,
// and so that neighbours in the usual order differ in lightness too, for readers who do not see the hue.
std::string_view page_style() {
  static constexpr std::string_view kStyle = R"css(
:root{color-scheme:light;--bg:#fdfdfc;--fg:#1b2026;--soft:#58616b;--line:#dfe2e5;--faint:#edeff1;--panel:#f5f6f6;--link:#1a5f9e;
--good:#0b6e4f;--good-bg:#e6f4ee;--bad:#a8321a;--bad-bg:#fbeae5;--warn:#7d5600;--warn-bg:#fbf2dc;
--neutral:#6b737c;--naive:#85613d;--library:#8a6900;--simd:#1b67ad;--threads:#00795f;--ranks:#bb4a08;--hybrid:#7d2a60;--device:#6a4fc0;--peer:#bb3679;--published:#474e57;--simulated:#11798f}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--bg:#14171a;--fg:#e6e9ec;--soft:#a3abb4;--line:#343a41;--faint:#23282d;--panel:#1c2024;--link:#83bdf2;
--good:#5fd0a5;--good-bg:#12302a;--bad:#ff9a80;--bad-bg:#3a1d16;--warn:#ecc25c;--warn-bg:#33290f;
--neutral:#98a1ab;--naive:#c49f79;--library:#dcb64e;--simd:#62aef0;--threads:#3fc09f;--ranks:#f58f55;--hybrid:#d58abc;--device:#b09cf5;--peer:#f587b8;--published:#b9c0c8;--simulated:#62c7de}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;max-width:900px;padding:40px 20px 64px;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","DejaVu Sans",sans-serif;overflow-wrap:break-word}
h1,h2,h3{line-height:1.2;letter-spacing:-.012em;text-wrap:balance}
h1{font-size:2.1rem;margin:.1em 0 .2em;font-weight:650}
h1.long{font-size:1.55rem}
h2{font-size:1.35rem;margin:0 0 .7em;font-weight:620}
h3{font-size:1rem;margin:1.6em 0 .5em;font-weight:600}
p,ul,ol,dl,pre{margin:0 0 1em}
p,li{max-width:70ch}
a{color:var(--link);text-underline-offset:2px}
.house{margin:0;font-size:.8rem;font-weight:600;letter-spacing:.08em;text-transform:uppercase;color:var(--soft)}
.subtitle{font-size:1.1rem;color:var(--soft);margin:0}
header{margin-bottom:28px}
nav ul{list-style:none;margin:0 0 28px;padding:0;display:flex;flex-wrap:wrap;gap:4px 20px;font-size:.9rem}
section{border-top:1px solid var(--line);padding-top:28px;margin-top:36px}
section:first-child{margin-top:0}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
p code,li code,td code{background:var(--faint);padding:.1em .35em;border-radius:4px}
pre{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:12px 16px;overflow-x:auto;line-height:1.5}
.headline{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:20px 32px;margin:0 0 28px}
.headline p{margin:0}
.number{font-size:2.6rem;line-height:1.1;font-weight:650;letter-spacing:-.025em;font-variant-numeric:tabular-nums}
.label{font-size:.95rem;margin-top:4px}
.detail{font-size:.82rem;color:var(--soft)}
.notice{border-left:4px solid var(--simd);background:var(--panel);padding:10px 16px;border-radius:0 8px 8px 0;max-width:none}
.notice strong:first-child{margin-right:.35em}
.notice.warning{border-color:var(--warn);background:var(--warn-bg)}.notice.warning strong:first-child{color:var(--warn)}
.notice.good{border-color:var(--good);background:var(--good-bg)}.notice.good strong:first-child{color:var(--good)}
.table{margin:0 0 28px}
.scroll{overflow-x:auto;max-width:100%}
.scroll:focus-visible,pre:focus-visible{outline:2px solid var(--link);outline-offset:2px}
table{border-collapse:collapse;min-width:52%;font-size:.875rem;line-height:1.4;font-variant-numeric:tabular-nums lining-nums}
.caption{font-weight:600;font-size:.95rem;margin:0 0 8px;max-width:none}
summary{cursor:pointer}
summary:focus-visible{outline:2px solid var(--link);outline-offset:2px}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
th,td{padding:7px 10px;border-bottom:1px solid var(--line);vertical-align:baseline;text-align:left}
th:first-child,td:first-child{padding-left:2px}
thead th{font-weight:600;color:var(--soft);border-bottom:1px solid var(--soft);vertical-align:bottom}
tbody th{font-weight:500}
tbody th.l{min-width:7.5em}
.short tbody th{white-space:nowrap}
.dense{font-size:.8rem}.dense th,.dense td{padding:5px}
.r{text-align:right}.c{text-align:center}
td.r .v,.i,.mark,.tag{white-space:nowrap}
.unit{font-weight:400;white-space:nowrap}
.unit::before{content:"("}.unit::after{content:")"}
.i,.n{color:var(--soft);font-size:.82rem}
.i{display:inline-block}
.n{display:block;white-space:normal}
.tag{font-size:.75rem;color:var(--soft);border:1px solid var(--line);border-radius:9px;padding:0 7px;margin-left:4px}
.mark.same,.mark.best{color:var(--good)}.mark.differs{color:var(--bad)}.mark.warning{color:var(--warn)}.mark.muted,.mark.published,.mark.simulated{color:var(--soft)}
tr.differs .tag{color:var(--bad);border-color:var(--bad)}tr.same .tag,tr.best .tag{color:var(--good);border-color:var(--good)}tr.warning .tag{color:var(--warn);border-color:var(--warn)}
tr.best>*{background:var(--good-bg)}tr.warning>*{background:var(--warn-bg)}tr.differs>*{background:var(--bad-bg)}
tr.muted>*{color:var(--soft)}tr.published>*{font-style:italic}
.note{font-size:.82rem;color:var(--soft);margin:8px 0 0;max-width:86ch}
dl{display:grid;gap:0}
dl div{display:grid;grid-template-columns:minmax(8em,14em) 1fr;gap:4px 16px;padding:6px 0;border-bottom:1px solid var(--faint);font-size:.9rem}
dt{color:var(--soft)}dd{margin:0;font-variant-numeric:tabular-nums;min-width:0;overflow-wrap:anywhere}
.checklist{list-style:none;padding:0}
.checklist li{display:grid;grid-template-columns:13.5em 1fr;gap:2px 12px;padding:7px 0;border-bottom:1px solid var(--faint);max-width:none;font-size:.9rem}
.state{font-weight:600;white-space:nowrap}
.state::before{display:inline-block;width:1.4em;content:"✓"}
.kept .state{color:var(--good)}.broken .state{color:var(--bad)}.partly .state{color:var(--warn)}.absent .state{color:var(--soft);font-weight:400}
.broken .state::before{content:"✗"}.partly .state::before{content:"~"}.absent .state::before{content:"–"}
.why{display:block;color:var(--soft);font-size:.85rem}
.chart{margin:0 0 32px}
figcaption{font-weight:600;font-size:.95rem;margin:0 0 10px}
.panels{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:8px 40px}
svg{display:block;width:100%;height:auto;overflow:visible}
.narrow{display:none;max-width:520px}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 18px;padding:0;margin:0 0 10px;font-size:.82rem}
.legend li{display:flex;align-items:center;gap:7px;min-width:0}
.dot{display:inline-block;flex:none;width:.7em;height:.7em;border-radius:3px;background:currentColor;print-color-adjust:exact;margin-right:.45em}
.legend .dot{margin-right:0}
svg.key{width:24px;height:12px;flex:none}svg.key.dotted{width:12px}
.numbers{columns:2;column-gap:24px;font-size:.8rem;padding-left:2.2em;margin:8px 0 0}
text{font-size:12px;fill:var(--fg);font-variant-numeric:tabular-nums}
.tick,.axis-title,text.muted{fill:var(--soft)}
text.on{fill:var(--bg)}
text.ink{fill:currentColor}
text.remark{font-style:italic}
text.halo,text.remark{paint-order:stroke;stroke:var(--bg);stroke-width:3px;stroke-linejoin:round}
.grid{stroke:var(--faint);stroke-width:1}
.axis{stroke:var(--soft);stroke-width:1}
.bar{fill:currentColor}
.line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.line.fit{stroke-width:1.4}
.line.predicted{stroke-width:1.6;stroke-dasharray:6 4}
.line.ideal{stroke-width:1.4;stroke-dasharray:1.5 4}
.marker{fill:currentColor;stroke:var(--bg);stroke-width:1}
.band{fill:currentColor;fill-opacity:.16}
.whisker{stroke:currentColor;stroke-width:1.3}
.bar~.whisker,rect~.whisker{stroke:var(--fg)}
.leader{stroke:var(--soft);stroke-width:.8}
.reference{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}
.ceiling{fill:none;stroke:var(--soft);stroke-width:1.6}
.t-neutral{color:var(--neutral)}.t-naive{color:var(--naive)}.t-library{color:var(--library)}.t-simd{color:var(--simd)}.t-threads{color:var(--threads)}.t-ranks{color:var(--ranks)}.t-hybrid{color:var(--hybrid)}.t-device{color:var(--device)}.t-peer{color:var(--peer)}.t-published{color:var(--published)}.t-simulated{color:var(--simulated)}
footer{border-top:1px solid var(--line);margin-top:48px;padding-top:16px;font-size:.82rem;color:var(--soft)}
@media screen and (max-width:760px){
body{padding:24px 16px 48px}
h1{font-size:1.65rem}
h1.long{font-size:1.3rem}
.wide{display:none}.narrow{display:block}
.panels{grid-template-columns:minmax(0,1fr)}
.headline{grid-template-columns:repeat(auto-fit,minmax(9.4rem,1fr));gap:18px 16px}
.number{font-size:1.8rem}
table{min-width:100%}
dl div,.checklist li{grid-template-columns:minmax(0,1fr);gap:0}
thead th:first-child,tbody th{position:sticky;left:0;background:var(--bg);max-width:44vw}
.short tbody th{white-space:normal}
}
@media print{
@page{margin:16mm 14mm}
body{max-width:none;padding:0;font-size:10.5pt;background:#fff}
nav{display:none}
section{margin-top:18px;padding-top:14px}
h2,h3,.caption,figcaption{break-after:avoid}
figure,tr,.notice,.headline,pre{break-inside:avoid}
.scroll,pre{overflow:visible}
details::details-content{content-visibility:visible;block-size:auto}
pre{white-space:pre-wrap}
a{color:inherit}
}
)css";
  return kStyle;
}

}  // namespace lockstep::report

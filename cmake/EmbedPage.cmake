cmake_minimum_required(VERSION 3.25)

# Makes one C++ source of the report's page: style, d3 and scripts put into the template.
#   cmake -DPAGE=folder -DSCRIPTS="a.js;b.js" -DD3=d3.min.js -DOUT=page_text.cc -P EmbedPage.cmake
# The policy of the page (Content-Security-Policy) names each script and style by its
# hash, so nothing else runs in it, whatever is in the data, and nothing is ever loaded.

# SHA-256 of a text in base64, as a policy wants it.
function(policy_hash text result)
  set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(SHA256 hex "${text}")
  # 32 bytes and one of padding: eleven times three bytes, each four letters.
  string(APPEND hex "00")
  set(base64 "")
  foreach(group RANGE 10)
    math(EXPR at "${group} * 6")
    string(SUBSTRING "${hex}" ${at} 6 bytes)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${bytes} >> ${shift}) & 63")
      string(SUBSTRING "${letters}" ${index} 1 letter)
      string(APPEND base64 "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${base64}" 0 43 base64)
  set(${result} "'sha256-${base64}='" PARENT_SCOPE)
endfunction()

file(READ "${PAGE}/index.html" page)
file(READ "${PAGE}/style.css" style)
file(READ "${D3}" d3)
set(script "'use strict';\n(() => {\n")
foreach(name IN LISTS SCRIPTS)
  file(READ "${PAGE}/${name}" text)
  string(APPEND script "${text}\n")
endforeach()
string(APPEND script "})();\n")

policy_hash("${style}" style_hash)
policy_hash("${d3}" d3_hash)
policy_hash("${script}" script_hash)
# @CONNECT@ is filled in by page.cc: only a page that a dashboard serves may ask its server.
string(REPLACE "@CSP@" "default-src 'none'; script-src ${d3_hash} ${script_hash}; style-src ${style_hash}; img-src data:; connect-src @CONNECT@; base-uri 'none'; form-action 'none'" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@D3@" "${d3}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(LENGTH "${page}" length)
file(WRITE "${OUT}" "#include \"search/report/internal/page_text.h\"

namespace hyperopt::internal {

const std::string_view kPageText = R\"hyperopt_page(${page})hyperopt_page\";

}  // namespace hyperopt::internal
")
